"""The soul: what the agent believes, for good."""
