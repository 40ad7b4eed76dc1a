"""``python -m bench.related``: what it costs to find the summaries that are like the present, and
how well they are chosen.

engines   ways to find the nearest of many vectors
choosing  BM25 and vectors over the summaries of real conversations
"""
