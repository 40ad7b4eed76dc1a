"""Numbers that the specification fixes. What a user may choose is in ``config/settings.py``."""

MEMORY_LIMIT = 4000
"""Characters in MEMORY.md."""
LIFE_SHOWN = 50
"""LIFE lines at the end of a prompt."""
PIN_TURNS = 20
"""Turns for which an original that UNCOMPACT brought back stays."""
TURN_LIMIT = 30
"""Turns in a row without an event from outside."""
CALL_LIMIT = 100
"""Tool lines of one response that are run. A model that repeats itself without end writes
thousands.
"""
ABOUT_LIMIT = 60
"""Characters of a call's title in the header of its result."""
MEMBERSHIPS = 100
"""Rooms that an agent may be in: each is looked at twenty times a second, and one message can ask
for any number of them.
"""
EXCHANGES = 4
"""Lines of other agents that an agent answers in a room before a person speaks there, unless the
setting ``exchanges`` says otherwise.
"""
FAILURE_LIMIT = 2
"""Failed compactions in a row after which compaction pauses."""
PAUSE_TURNS = 10
"""How long it pauses then, and after a compaction was taken back."""
RESULT_LIMIT = 20_000
"""Characters of one tool result; in a small context fewer, see ``Config.result_limit``."""
