"""Many agents and writers, each a process of its own, share one room and one blob store; every line
is checked afterwards.

lines      what everybody says: numbered messages that are known beforehand, some of which look like
           the marks of a room
talkative  the model of all agents: at each turn it lets an agent say its next messages
writer     ``python -m stress.crowd.writer``: a process, or a shell script, that says its messages
gathering  runs all processes until everything has been said and heard
checks     what must hold in the home afterwards
"""
