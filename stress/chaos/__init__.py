"""Real agents, killed with SIGKILL at named points between two writes and at random instants, and
what became of them.

points   ``python -m stress.chaos.points``: agent.py with a trap at one point
plan     which points a life is killed at, by its seed
orders   a model that does what people order, several tool lines a response, served over HTTP
talk     what people say, and the ledger of what was acknowledged
life     one life: a home, its agents one after the other, their kills
told     a life read back from its files: every entry, and what its tool lines must have done
checks   what must hold after each resume
dreamt   of that, what concerns history, versions and Dreams
report   what a run came to
"""
