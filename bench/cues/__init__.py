"""``python -m bench.cues``: how well cues name what a message belongs to."""
