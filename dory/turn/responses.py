"""A response becomes part of the life: as a blob, an entry of the context, and a line of LIFE."""

from dory.clock import minute
from dory.identity.identity import Identity
from dory.identity.life import EMPTY
from dory.text import formatting, references, thoughts
from dory.types import Reply


def stash(me: Identity, reply: Reply) -> str:
    """Keep the response as a blob and an entry, which the next commit makes count; its hash. The
    arguments of hidden tools are masked in it already.
    """
    state, now = me.state, me.now()
    body = thoughts.as_thought(reply.reasoning) + reply.text
    gist = formatting.one_line(reply.text) or EMPTY
    hash = me.blobs.stash(body, kind="response", gist=gist, at=now, parent=state.parent)
    state.parent = hash
    state.turn += 1
    state.streak += 1
    me.add("response", minute(now), references.escape(body))
    me.log("response", gist, hash)
    return hash
