"""Pure functions on text: tool calls, references, edits, diffs, tokens, prompt files."""
