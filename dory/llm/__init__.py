"""Models behind OpenAI-compatible endpoints: calls, retries, errors, usage and budget."""
