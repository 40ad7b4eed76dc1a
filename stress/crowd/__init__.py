"""Agents and writers, each a process of its own, that share one room and one blob store, and what
became of every line.

lines      what everybody says: numbered messages that are known beforehand, some of them hard to
           keep apart from the room's own marks
talkative  the model of all agents: at each turn it lets an agent say its next messages
writer     ``python -m stress.crowd.writer``: a process that says its messages; its like as a shell
           script
gathering  everybody together, until all has been said and heard
checks     what must hold in the home afterwards
"""
