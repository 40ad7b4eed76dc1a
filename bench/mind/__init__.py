"""Thirty tasks for any model, in one scripted life of an agent: ``python -m bench.mind``.

tasks.py    the tasks, as data: who says what where, and what must come of it
checks.py   what can be checked of a task, by its effects alone; no model judges
past.md     what the agent has lived through before, the same for every model
living.py   the agent, in this process, with the real loop's parts
report.py   the scores as a table
"""
