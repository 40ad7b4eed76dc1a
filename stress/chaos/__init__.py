"""Real agents are killed with SIGKILL, between two writes and at random instants, and their files
are checked after each resume.

points         ``python -m stress.chaos.points``: agent.py, killed at one named point
calls          kills inside system calls, and calls that fail, injected by strace
plan           the points at which a life is killed; they follow from its seed
orders         a model that does what people order, several tool lines a response
hostile        a model that answers anything, for every purpose
talk           what people say, and the ledger of what was acknowledged
process        the process of one agent, and whether it is at rest
life           one life: a home, its agents one after the other, their kills
home           a life read back from its files: every entry, and what its tool lines did
checks         what must hold after each resume
dream_checks   of these, the checks of history, versions and Dreams
report         the figures of a run
"""
