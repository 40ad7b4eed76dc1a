"""What of each prompt a provider's cache could serve, and what a life costs: real agents, the real
client, a scripted model over loopback HTTP.

script         the model: some 400 new tokens a turn, notes in MEMORY now and then, answers to
               compactions, to the cascade and to Dreams
arrangements   the same requests in the orders that others use: memory first, a clock first
life           one life, and every request as it arrived
caches         the rules by which providers serve what they have seen
rates          what they ask for it, with sources
report         shares, tokens and prices, as a table and as JSON
cascade        what the cascade costs a turn and 64 events
dream          what Dreams cost, and what they take from the cache
"""
