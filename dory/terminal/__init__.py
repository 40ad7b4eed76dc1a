"""Talking to a room, which is all that ``chat.py`` does: one person, one room, and the agents that listen in it.

    visit    the person's place in the room: what is new in it, what they say, who listens
    plain    room text made harmless, and a message as plain text
    company  an agent that is started for the visit and stopped after it
    pipe     the visit of a script: a line in, the answer out
    screen   the visit of a person: prompt, history, colours, a sign that somebody is thinking

A chat knows the agents only through their files, as any other transport would: it may be killed and started again at any time.
"""
