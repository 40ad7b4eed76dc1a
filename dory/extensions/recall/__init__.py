"""RECALL: one search over all that was ever heard, said, done and written."""
