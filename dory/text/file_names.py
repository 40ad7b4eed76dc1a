"""Names of files that other programs act on by themselves. Pure.

What a model writes into a folder, a person meets there with a shell, git or an editor. Many tools
run what they find under a certain name as soon as somebody works in that folder: ``.git/config``,
``.envrc``, ``.vscode/``. Nearly all of these names begin with a dot. git also takes a folder
without any such name for a repository if it holds a valid ``HEAD``. Nothing else is needed in that
folder itself, as ``commondir`` may point to the rest, and without ``HEAD`` no layout is one.

Other systems know further spellings of a name. They ignore case, code points that are not seen, and
dots and spaces at the end, they end a name at a colon, and give each a short one such as ``GIT~1``.
"""

import re
import unicodedata

from dory.text.characters import without_hidden

_ACTING = frozenset(("head", "_darcs", "cvs", "desktop.ini", "autorun.inf"))
"""Those without a dot before them: a git repository, folders of two other systems of versions, and
what Windows reads when it shows a folder or a disk.
"""
_SHORT = re.compile(r"[^.]{1,6}~\d{1,6}(\.[^.]{0,3})?")
"""The short names of Windows, each of which stands for a longer one."""
_UNFIT = re.compile(r"[^\w-]+|^_+")
_PARTS = re.compile(r"[:\\]")


def acts(name: str) -> bool:
    """Whether a file or folder of that name may make other programs run what stands in it, on any
    file system.
    """
    return any(
        part.startswith(".") or part in _ACTING or _SHORT.fullmatch(part) is not None
        for part in _bare_parts(name)
    )


def is_git(name: str) -> bool:
    """Whether some file system takes a file or folder of that name for ``.git``."""
    return not {".git", "git~1"}.isdisjoint(_bare_parts(name))


def harmless(name: str) -> str:
    """A name that is like this one, and on which no program acts."""
    seen = without_hidden(unicodedata.normalize("NFKC", without_hidden(name)))
    return f"{_UNFIT.sub('-', seen).strip('-') or 'file'}.txt"


def _bare_parts(name: str) -> list[str]:
    return [_bare(part) for part in _PARTS.split(_bare(name))]


def _bare(name: str) -> str:
    """The name as all its spellings have it."""
    shown = unicodedata.normalize("NFKC", without_hidden(name)).casefold()
    # again, as what was taken apart may hold such code points, and what was folded is not composed
    shown = unicodedata.normalize("NFKC", without_hidden(shown))
    begins = shown.lstrip()
    return begins.rstrip(". ") or begins
