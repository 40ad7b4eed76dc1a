"""Measurements and demonstrations with a real agent: a process of its own on the offline model,
in a home of its own.

running     what all of these have in common as programs
household   one agent in one home: wake it, speak to it, kill it, look at what it has in front of it
days        a life of days in this process, whose clock moves on with what people say
locomo      conversations of the LoCoMo data set
questions   what is asked about them, and where the answers stand
messages    messages that arrive in such a life, about what was in it and about nothing that ever
            was
asking      whether the evidence for a question comes into the prompt, after how many tool calls
faded       a life made of one conversation, all of which has left the context
reach       how everything that entered a life is found again
figures     what a life came to
life        ``python -m bench.life``: a long conversation, and what became of every byte of it
demo        ``python -m bench.demo``: forgetting and bringing back, as a transcript
dream       ``python -m bench.dream``: what Dreams make of two days, and what they cost
fortnight   ``python -m bench.fortnight``: two agents live a scripted fortnight together, told as
            docs/fortnight.md
recall      ``python -m bench.recall``: how well a search finds the evidence for real questions
rivals      other engines on the same texts
cues        ``python -m bench.cues``: how well the line below a message names what it belongs to
related     ``python -m bench.related``: what it costs to find the summaries that are like the
            present
sections    ``python -m bench.sections``: what an ordinary self puts into each prompt, by section
store       ``python -m bench.store``: what a memory costs that grows
chaos       ``python -m stress.chaos``: agents killed between any two writes, and what is left of
            them checked
cache       ``python -m bench.cache``: what providers' caches can serve of a life, in both layouts
            and in other orders, and what it costs
cascade     ``python -m bench.cascade``: a life of 10,000 events in constant space, also when it is
            killed
forgetting  ``python -m bench.forgetting``: five ways of forgetting in comparison, what can still be
            answered and at what price
turn        ``python -m bench.turn``: what the harness itself costs, in a young life and in an old
            one
faults      ``python -m stress.faults``: a model that fails at the wire, what became of its agents
            and how often they asked it
crowd       ``python -m stress.crowd``: agents and writers that share one room, and what became of
            every line
"""
