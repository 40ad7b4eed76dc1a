"""``python -m bench.cascade``: a life of 10,000 events in constant space: whole, summed up late,
killed again and again, in the real loop.

life      what happens in it, by the real identity, extensions and prompt builder; the sizes of its
          prompts
victim    the same life in a process of its own that kills itself between two writes
killed    such processes one after the other, until the life is over
spoken    a life in the real loop
facts     the same life with facts in it: which of them the summaries still name
checks    what must hold, computed from the triggers alone, and what does not
report    the figures, as text and as JSON
plot      the picture
"""
