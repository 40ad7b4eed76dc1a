"""The system message: SOUL, the references of SEGMENT.md and SUMMARISE.md, the harness text, and
the sections of the freshness ``epoch`` and ``change``.

It is rendered once per epoch, and is the same bytes until the next. A section that changes in
between is told once, as an entry. No clock, no counter and no text from a room stands in it: what
people said stands in the user's part (``turn/prompt.py``).
"""

import re
from collections.abc import Sequence
from datetime import datetime

from dory.clock import minute, wall
from dory.config.settings import Config
from dory.constants import MEMORY_LIMIT, PIN_TURNS, TURN_LIMIT
from dory.identity.context import CHANGED
from dory.identity.identity import Identity
from dory.text import formatting, prompt_files, references
from dory.text.prompt_files import SEGMENT, SUMMARISE
from dory.turn import lessons, stores
from dory.turn.extension import Tool
from dory.turn.extension_host import ExtensionHost


class SystemMessage:
    """The system message of one identity."""

    def __init__(self, identity: Identity, config: Config, extensions: ExtensionHost) -> None:
        self._identity = identity
        self._config = config
        self._extensions = extensions
        self._settled: dict[str, str] = {}
        self._rendered: tuple[int, str] | None = None

    def text(self, layout: str, native: bool = False) -> str:
        """The message for the epoch as it is now; prompts of a new epoch have this ``layout``, and
        call tools ``native``ly or by lines. Sections that have changed since, here or in the
        opening, are told as entries.
        """
        epoch = self._identity.state.epoch
        own = self._extensions.sections("epoch", "change", epoch=epoch)
        now = {**own, **self._extensions.sections("opening-change", epoch=epoch)}
        if self._rendered is None or self._rendered[0] != epoch:
            self._rendered = (epoch, self._made(own, layout, native))
            # an older notice in the context must not contradict the new system message
            self._settled = {**now, **self._told()}
        for name in {**self._settled, **now}:
            empty = f"[#{name}]\n"
            after = now.get(name, empty)
            if after != self._settled.get(name, empty):
                self._tell_of_change(name, after)
        self._settled = now
        return self._rendered[1]

    def _made(self, sections: dict[str, str], layout: str, native: bool) -> str:
        me = self._identity
        instructions = [f"{name} {me.text_reference(name)}" for name in (SEGMENT, SUMMARISE)]
        named = "\n".join([prompt_files.prompt("references"), *instructions])
        parts = [me.soul.strip(), named, self._harness(layout, native), *sections.values()]
        return me.redact("\n\n".join(parts))

    def _told(self) -> dict[str, str]:
        """The sections as the notices in the context tell of them, by name."""
        sections: dict[str, str] = {}
        for entry in self._identity.context:
            if entry.kind == "notice" and entry.body.startswith(CHANGED):
                section = references.unquote(entry.body.removeprefix(CHANGED))
                name = re.split("[ \\]]", section.removeprefix("[#"), maxsplit=1)[0]
                sections[name] = section
        return sections

    def _tell_of_change(self, name: str, section: str) -> None:
        me = self._identity
        _, _, text = section.partition("\n")
        me.add("notice", minute(me.now()), f"{CHANGED}{references.quote(section)}")
        me.log("notice", f"{name} has changed: {text}")

    def _harness(self, layout: str, native: bool) -> str:
        """The text that tells the agent how it lives."""
        me, tools = self._identity, self._extensions.tools()
        lean = self._config.lean
        text = prompt_files.prompt("lean" if lean else "harness")
        if layout == "ledger" and not lean:
            text += f" {prompt_files.prompt('ledger')}"
        visible = (me.folder / "workspace").glob("[!.]*")
        workspace = sorted(formatting.one_line(path.name) for path in visible)
        guidance = "\n".join(self._extensions.guidance())
        belongs = stores.table(self._config)
        return text.format(
            name=me.name,
            identity=me.hash,
            times=times(wall(me.now())),
            acting=self._acting(tools, native),
            stores=f"{belongs}\n\n" if belongs else "",
            guidance=f"{guidance}\n\n" if guidance else "",
            rooms=formatting.named(me.subscriptions()) or "none",
            workspace=formatting.named(workspace) or "nothing yet",
            context_limit=self._config.context_limit,
            pin_turns=PIN_TURNS,
            memory_limit=MEMORY_LIMIT,
            result_limit=self._config.result_limit,
            turn_limit=TURN_LIMIT,
            exchange_limit=self._config.exchanges,
        )

    def _acting(self, tools: Sequence[Tool], native: bool) -> str:
        """How it calls tools, and which there are."""
        lean = self._config.lean
        name = "functions" if native else "lines"
        return prompt_files.prompt(f"lean_{name}" if lean else name).format(
            plain=_PLAIN[self._config.plain_answers],
            names=", ".join(tool.name for tool in tools),
            tools=lessons.briefly(tools) if lean else lessons.listed(tools, self._identity.soul),
        )


_PLAIN = {
    "deliver": "A response without any tool line is said to whoever waits.",
    "ask": "A response without any tool line reaches nobody.",
}
"""What the prompt says of plain answers, by the setting ``plain_answers``."""


def times(here: datetime) -> str:
    """What the prompt says of times, to an agent whose machine's clock has the zone of ``here``."""
    offset = here.strftime("%z")
    hours, minutes = offset[:3], offset[3:5]
    if offset in ("+0000", ""):
        return "All times are UTC."
    shown = f"{int(hours):+d}" + (f":{minutes}" if minutes != "00" else "")
    return f"All times are UTC; the clock on the wall shows UTC{shown}."
