"""``python -m bench.turn``: what the harness itself costs, in a young life and in an old one;
``__main__`` says more.

``homes`` makes lives of any age in the house's own formats, ``turns`` takes turns in this process,
``selves`` with a self and without, ``company`` measures real processes from outside (``process``),
``forgetting`` a compaction beside turns, ``peers`` other programs.
"""
