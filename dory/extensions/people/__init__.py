"""People: conversations as they were recorded, and relationships."""
