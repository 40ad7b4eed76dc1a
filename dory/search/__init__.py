"""Full-text search with SQLite FTS5, ranking, and vectors."""
