"""THE prompt builder: turns and compactions send what this room makes and nothing else.

``SOUL + segment_ref + summarise_ref + harness + settled sections`` is the system message, rendered once per epoch. The user message holds the
context and then the tail: live sections, MEMORY, the newest LIFE lines, the request for a response. Within an epoch everything before the
tail only grows at its end, so a provider serves it from its cache. No clock and no counter stands before the tail.
"""

from dory import context, refs, texts
from dory.config import Config
from dory.context import Entry
from dory.faculty import Faculties
from dory.identity import Identity
from dory.limits import EXCHANGE_LIMIT, LIFE_SHOWN, MEMORY_LIMIT, PIN_TURNS, TURN_LIMIT, result_limit
from dory.records import Message, Prompt
from dory.texts import SEGMENT, SUMMARISE


class PromptBuilder:
    """Builds the prompts of one identity."""

    def __init__(self, identity: Identity, config: Config, faculties: Faculties) -> None:
        self._identity = identity
        self._config = config
        self._faculties = faculties
        self._settled: tuple[int, str] | None = None
        self._sent: tuple[int, Prompt, tuple[Entry, ...]] | None = None

    def build(self) -> Prompt:
        """The prompt for the state as it is now."""
        redact = self._identity.redact  # what people put into SOUL.md and MEMORY.md, and the names of files
        system, tail = redact(self._system()), redact(self._tail())  # first: a faculty whose section fails is told of in the context
        live = context.render(self._identity.context)
        prompt = Prompt((Message("system", system), Message("user", live + tail)))
        self._sent = (self._identity.state.epoch, prompt, tuple(self._identity.context))
        return prompt

    def live(self) -> tuple[Prompt, tuple[Entry, ...]]:
        """The prompt of the last turn, which the provider has cached whole, and the entries in it; a new one after a new epoch."""
        if self._sent is None or self._sent[0] != self._identity.state.epoch:
            self.build()
            return self.live()
        return self._sent[1:]

    def _system(self) -> str:
        """Once per epoch: the same bytes until the next."""
        epoch = self._identity.state.epoch
        if self._settled is None or self._settled[0] != epoch:
            own = [f"{name} {self._identity.text_reference(name)}" for name in (SEGMENT, SUMMARISE)]
            parts = [self._identity.soul.strip(), "\n".join(own), self._harness(), *self._faculties.sections(live=False)]
            self._settled = (epoch, "\n\n".join(parts))
        return self._settled[1]

    def _harness(self) -> str:
        workspace = sorted(refs.one_line(path.name) for path in (self._identity.folder / "workspace").glob("[!.]*"))
        return texts.prompt("harness").format(
            name=self._identity.name,
            identity=self._identity.hash,
            tools="\n".join(tool.usage for tool in self._faculties.tools()),
            rooms=", ".join(self._identity.subscriptions()) or "none",
            workspace=", ".join(workspace[:20]) or "nothing yet",
            context_limit=self._config.context_limit,
            pin_turns=PIN_TURNS,
            memory_limit=MEMORY_LIMIT,
            result_limit=result_limit(self._config.context_limit),
            turn_limit=TURN_LIMIT,
            exchange_limit=EXCHANGE_LIMIT,
        )

    def _tail(self) -> str:
        memory = self._identity.memory
        parts = [
            *self._faculties.sections(live=True),
            f"[#memory {len(memory)} of {MEMORY_LIMIT} characters]\n{refs.escape(memory)}",
            f"[#life]\n{self._identity.life.tail(LIFE_SHOWN)}",
            f"[#turn]\n{texts.prompt('turn')}",
        ]
        return "".join(part if part.endswith("\n") else f"{part}\n" for part in parts)
