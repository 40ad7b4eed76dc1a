"""One agent on disk: its identity, state, LIFE and context."""
