"""Talking to a room, which is all that ``chat.py`` does: one person, one room, and the agents that
listen in it.

    visit    the person's place in the room: what is new in it, what they say, who listens
    plain    room text made harmless, and a message as plain text
    signals  Ctrl-C, SIGTERM and a closed window: noted when they come, obeyed where the visit can end in good order
    company  an agent that is started for the visit and stopped after it
    commands what a line begins with that the harness answers
    pipe     the visit of a script: a line in, the answer out
    colours  what a notice looks like, and a diff in it
    editor   the line that a person types: keys, history, completion
    screen   the visit of a person: messages above the line, colours, a sign that somebody is thinking

A chat knows the agents only through their files, as any other transport would: it may be killed and
started again at any time.
"""
