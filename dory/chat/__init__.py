"""The terminal client: one person or script talks in one room to the agents that listen there.

    session        one person in one room: new messages, saying something, who listens
    screen         the client for a person at a terminal
    editor         the input line of the screen: keys, history, completion
    render         messages as the screen shows them
    watch          what changes in the room while a person looks
    live_view      what agents are doing and writing, as text for the screen
    pipe           the client for a script: one line in, its answer out
    presence       who is in a room with a chat
    keeper         an agent in the room while somebody is there who asked for one
    agent_process  the process of such an agent
    signals        Ctrl-C, SIGTERM and a closed window
    completions    the commands that Tab completes
    sanitize       messages as lines of plain text, safe for a terminal

A client knows the agents only through their files. It may be killed and started again at any time.
"""
