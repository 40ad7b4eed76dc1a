"""``python -m bench.life``: a long real conversation, lived by an agent, and what became of every
byte of it.
"""
