"""An identity that dreams: a model whose answers are given, and the objects that a process needs
for its Dreams.
"""

from collections.abc import Sequence
from pathlib import Path

from dory.config.dream_schedule import DreamSettings
from dory.control import Control
from dory.errors import ModelError
from dory.extensions.dream.extension import DreamExtension
from dory.extensions.dream.history import DREAM_CURSOR, History, Item
from dory.extensions.dream.repository import Commit
from dory.extensions.dream.session import DreamResult, DreamTask, dream
from dory.extensions.dream.versions import Versions
from dory.extensions.dream.versions_extension import VersionExtension
from dory.text import references, tool_calls
from dory.text.prompt_files import DURABLE
from dory.turn.extension_host import ExtensionHost
from dory.turn.inbox import Inbox
from dory.types import Call, Message, Model, Prompt, Purpose, Reply, Usage
from tests.support.household import Household

STRETCH = (
    "- 2026-03-01 09:14 to 2026-03-01 10:02 (#3-9, 5d41402abc4b2a76): Ada tells of her "
    "birthday\n  Ada: “it is on 4 May”"
)


def edit(name: str, search: str, replacement: str, why: str = "She said so.") -> str:
    """One change as a model makes it."""
    return f"{why}\n{tool_calls.render([Call('EDIT_FILE', name, edits=((search, replacement),))])}"


def listed(*names: str) -> str:
    """A list of changes."""
    return "\n".join(
        f"{number}. {name}: change it. Reason: reason {number}"
        for number, name in enumerate(names, 1)
    )


class Answering:
    """A ``Model`` that gives the ``answers`` in turn, the last one again and again; an error is
    raised. ``asked`` are its prompts.
    """

    name = "answering"

    def __init__(self, *answers: str | ModelError) -> None:
        self.answers = list(answers)
        self.asked: list[Prompt] = []
        self.cut = False

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        assert purpose == "dream"
        self.asked.append(prompt)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, ModelError):
            raise answer
        return Reply(answer, "", Usage(purpose, self.name, 1, None, 1, 0.0), self.cut)

    @property
    def last(self) -> Message:
        """What it was told last."""
        return self.asked[-1].messages[-1]


def task(
    count: int = 1,
    content: str = STRETCH,
    known: dict[str, str] | None = None,
    calls: int = 10,
    room: int = 80_000,
) -> DreamTask:
    """A batch of ``count`` entries, and what the files hold."""
    items = [Item(number, "2026-03-03 00:02", content) for number in range(1, count + 1)]
    return DreamTask("I am Dory.", "Dream well.", known or {}, {}, items, calls, room)


def asleep(model: Answering, given: DreamTask | None = None) -> DreamResult:
    """One Dream, without the loop around it."""
    return dream(model, given or task(), lambda text: text.replace("hunter2", "[secret]"))


def outcomes(dreamt: DreamResult) -> list[tuple[str, str]]:
    """What came of each call."""
    return [(step.outcome, step.call.title) for step in dreamt.steps]


class Sleeper:
    """A household whose identity dreams with ``model``."""

    def __init__(
        self,
        home: Path,
        model: Model,
        dream: DreamSettings | None = None,
        house: Household | None = None,
    ) -> None:
        self.house = house or Household(home)
        self.model = model
        self.dream = dream or DreamSettings()
        self.wake()

    def wake(self, home: Path | None = None) -> None:
        """As the next process would, here or in a copy of the home."""
        self.me = self.house.restart(home)
        self.told: list[str] = []
        self.versions = Versions(self.me.folder, self.me.now, self.me.redact)
        self.history = History(self.me.folder)
        self.extension = DreamExtension(
            self.me, self.dream, self.model, self.versions, self.history, 80_000, self.told.append
        )
        members = [self.extension, VersionExtension(self.me, self.versions, self.told.append)]
        self.extensions = ExtensionHost(members, self.report, self.me.now)
        self.me.listeners.append(self.extensions.on_event)

    def report(self, text: str) -> None:
        """As an agent does: the person and the agent are told."""
        self.told.append(text)
        self.me.notice(text)

    def fade(self, count: int = 1, content: str = STRETCH) -> None:
        """New history."""
        for _ in range(count):
            self.history.add(self.me.now(), content)
        self.history.note()

    def step(self) -> None:
        """As between two turns, until no work is under way."""
        self.extensions.step()
        while self.extensions.under_way():
            before = self.house.clock.at
            self.extensions.step()
            if self.extensions.under_way():
                self.house.clock.at = before  # how often it was looked in vain is no time

    def sleep(self) -> None:
        """A Dream that a person asks for, from its beginning to its end."""
        self.extension.force("")
        self.step()

    def post(self) -> None:
        """Put into the rooms what they are owed, as the loop does before it waits."""
        Inbox(self.me, [], self.told.append).post_notices(fresh=False)

    def write(self, name: str, text: str) -> None:
        """As with an editor."""
        (self.me.folder / name).write_text(text)

    def read(self, name: str) -> str:
        return self.versions.raw()[name].decode()

    def records(self) -> list[str]:
        """What LIFE's Dreams left to be read, the oldest first."""
        lines = [line for line in self.me.life.path.read_text().splitlines() if " dreamed " in line]
        return [self.me.blobs.get(hash).body for line in lines for hash, _ in references.live(line)]

    def log(self, author: str = "Dream") -> list[Commit]:
        """The changes by that author, the oldest first."""
        return [version for version in self.versions.log() if version.author.name == author][::-1]

    def durable(self) -> dict[str, bytes]:
        """All that a Dream may change, byte for byte, and the newest version."""
        paths: Sequence[Path] = [
            self.me.folder / name for name in (*DURABLE, DREAM_CURSOR, "LIFE.md")
        ]
        return {path.name: path.read_bytes() for path in paths if path.exists()} | {
            "HEAD": self.versions.head().encode()
        }


CHANGES = "\n".join(
    [
        edit("USER.md", "", "Ada's birthday is on 4 May", "She told it on 1 March."),
        edit("MEMORY.md", "Friday", "Monday", "It was moved."),
        "READ_FILE VOICE.md",
        edit("USER.md", "", "Ada likes tea", "She said so."),
        edit("VOICE.md", "no such line", "x", "A guess."),
    ]
)


def sleeper(home: Path, *answers: str | ModelError) -> Sleeper:
    """One whose MEMORY tells of a release, and with history."""
    made = Sleeper(
        home, Answering(listed("USER.md", "MEMORY.md"), *(answers or (CHANGES,)), "DONE")
    )
    made.write("MEMORY.md", "The release is on Friday\n")
    made.step()
    made.fade(2)
    return made
