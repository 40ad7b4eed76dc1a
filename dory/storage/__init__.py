"""Every durable write: files, locks, blobs, rooms, SQLite."""
