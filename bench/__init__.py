"""Measurements and demonstrations with real agents on the offline model, each in a home of its own.
Each is a program: ``python -m bench.<name>``, with ``--help`` and ``--json``.

cache       what providers' caches can serve of a life, in both layouts and in orders that others
            use, and what it costs
cascade     a life of 10,000 events in constant space, uninterrupted and killed again and again
cues        how well the line below a message names the events that the message is about
demo        a transcript: facts are told, compacted away and brought back, also after a kill
dream       what Dreams make of two days, and what they cost
forgetting  five ways to compact a context: what can still be answered afterwards, and at what price
fortnight   two agents live a scripted fortnight; docs/fortnight.md is its transcript
grammar     what llama.cpp's grammar does to the first answers of a small model, on and off
life        a long real conversation, and a check that every byte of it can be found again
mind        thirty tasks for any model in one scripted life, checked by their effects
recall      how well a search finds the evidence for real questions, beside other search engines
related     what it costs to find the summaries that are like the present
sections    the size of each section of an ordinary agent's prompt
store       the cost of a memory that grows to a million entries
turn        what the harness itself costs: turns, start, sleep, in a young and in an old life

common      what they share: data sets, an agent in its own process, tables, the command line
chaos       the former name of ``stress.chaos``
crowd       the former name of ``stress.crowd``
faults      the former name of ``stress.faults``
"""
