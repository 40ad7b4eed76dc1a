"""``python -m bench.fortnight``: two agents live a scripted fortnight together; ``__main__`` says
more.

``fortnight.md`` is what people say, ``script`` reads it, ``living`` lets two agents hear it, by a
clock that it sets, and ``report`` tells what was said and what became of them.
"""
