"""``python -m bench.recall``: how well a search finds what a question is about."""
