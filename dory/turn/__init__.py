"""One turn of the agent: inbox, prompt, model call, tool calls, compaction."""
