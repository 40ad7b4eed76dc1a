"""What a line begins with that the harness answers: ``/help`` in a room tells what each does.
Imports nothing.
"""

SLASHED = (
    *(
        "/help",
        "/status",
        "/context",
        "/show",
        "/uncompact",
        "/compact",
        "/undo-compaction",
        "/usage",
        "/notes",
        "/note",
        "/recall",
    ),
    *(
        "/memory-status",
        "/compact-memories",
        "/dream",
        "/dream-log",
        "/dream-restore",
        "/dream-prompt",
    ),
    *(
        "/soul",
        "/memories",
        "/restore-memories",
        "/diary",
        "/conversations",
        "/relationships",
        "/links",
    ),
)
CALLED = ("@memory-status", "@compact-memories")
"""Those that may be called with an ``@``; others may be names of people."""


def answered(text: str) -> bool:
    """Whether the harness answers this line, which is not blank: any slash, for it tells of a
    command that there is not, too.
    """
    return text.startswith("/") or text.split()[0] in CALLED
