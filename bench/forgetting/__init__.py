"""``python -m bench.forgetting``: the same life under five ways of forgetting, and what can still
be answered at what price.

script   a life to be lived: talk (``talk.md``) with facts planted in it (``facts.md``), and
         questions about them
ways     the five ways of forgetting, behind one interface
reader   the offline model as a reader, which can also write the summary that two of the ways need
         (``condense.md``)
meter    what every model call costs, and what of it a provider's cache would have served
lives    one life under one way: the real parts of an agent, driven within this process
report   the table
plot     the picture
"""
