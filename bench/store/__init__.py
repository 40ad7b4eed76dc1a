"""``python -m bench.store``: what the store and its index cost, from a thousand entries to a
million.

growth    a store that grows: entries of 400 characters in stretches of talk, one real conversation
          hidden at its beginning
cost      the price of a write: processor time, bytes, syncs
syncs     counting syncs
noise     texts that mean nothing
reading   opening and searching, measured in a process of its own
plain     the same in plain FTS5, whose searches stand beside
snapshot  the other design: everything is written anew with every entry
"""
