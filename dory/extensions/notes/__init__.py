"""The note store: notes the agent writes, archives of what faded, export and import."""
