"""Measurements and demonstrations with a real agent: a process of its own on the offline stand-in, in a home of its own.

household   one agent in one home: wake it, speak to it, kill it, look at what it has in front of it
locomo      conversations of the LoCoMo data set
reach       how everything that entered a life is found again
figures     what a life came to
life        ``python -m bench.life``: a long conversation, and what became of every byte of it
demo        ``python -m bench.demo``: forgetting and bringing back, as a transcript
chaos       ``python -m bench.chaos``: agents killed between any two writes, and what is left of them checked
cache       ``python -m bench.cache``: what providers' caches can serve of a life, in both layouts and in other orders, and what it costs
forgetting  ``python -m bench.forgetting``: five ways of forgetting in comparison, what can still be answered and at what price
turn        ``python -m bench.turn``: what the harness itself costs, in a young life and in an old one
faults      ``python -m bench.faults``: a model that fails at the wire, what became of its agents and how often they asked it
crowd       ``python -m bench.crowd``: agents and writers that share one room, and what became of every line
"""
