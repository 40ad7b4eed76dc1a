"""The terminal client: one person or script talks in one room to the agents that listen there.

    session        one person in one room: new messages, saying something, who listens
    screen         the client for a person at a terminal
    editor         the input line of the screen: keys, history, completion
    pipe           the client for a script: one line in, its answer out
    agent_process  an agent that is started for a session and stopped after it
    signals        Ctrl-C, SIGTERM and a closed window
    completions    the commands that Tab completes
    sanitize       room text made safe for a terminal

A client knows the agents only through their files. It may be killed and started again at any time.
"""
