"""Everything that somebody who means harm can do to an agent, its rooms and its files, and what
must hold nevertheless: ``python -m stress.attack``.

attack      what an attack is, and the record of one
ground      the place of one attack: a home, a model that says anything, real processes
endpoint    a server that sends any bytes and keeps what it is sent
table       all attacks

loop        answers and endpoints that keep the loop from going on
money       ways to spend more than was allowed
workspace   what the model writes into its own files
processes   other processes, signals and wiping
state       files put back, moved away or damaged
traps       homes whose files are none
rooms       floods, lines without an end, other writers and other users
doors       keys, redirects and homes of others
people      secrets, names and strange terminals

report      the table of a run
"""
