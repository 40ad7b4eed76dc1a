"""Names of files that other programs act on by themselves. Pure.

What a model writes into a folder, a person meets there with a shell, git or an editor. Many tools
run what they find under a certain name as soon as somebody works in that folder: ``.git/config``,
``.envrc``, ``.vscode/``. Nearly all of these names begin with a dot. git also takes a folder
without any such name for a repository if it holds a valid ``HEAD``. Nothing else is needed in that
folder itself, as ``commondir`` may point to the rest, and without ``HEAD`` no layout is one.

Other systems know further spellings of a name. They ignore case, code points that are not seen, and
dots and spaces at the end, they end a name at a colon, and give each a short one: ``GIT~1`` may be
``.git``.
"""

import re
import unicodedata

from dory.text.characters import without_hidden

_ACTING = frozenset(("head", "_darcs", "cvs", "desktop.ini", "autorun.inf"))
"""Those without a dot before them: a git repository, folders of two other systems of versions, and
what Windows reads when it shows a folder or a disk.
"""
_GIT = re.compile(r"\.git|git~\d{1,6}")
"""The name, and the short ones by which Windows may know it."""
_SHORT = re.compile(r"gi(t(mod|att|ign)?|[0-9a-f]{4})~\d{1,6}")
"""The short names of Windows for ``.git`` and what git reads beside it, ``.gitmodules`` and the
like, with the first letters or with four digits of a checksum, as git itself refuses them. Those of
other names are left: without a file whose name begins with a dot they stand for nothing.
"""
_LONGEST = 60
"""Bytes of the part before the ending in a name that is offered."""
_UNFIT = re.compile(r"[^\w-]+|^_+")
_PARTS = re.compile(r"[:\\]")


def acts(name: str) -> bool:
    """Whether a file or folder of that name may make other programs run what stands in it, on any
    file system.
    """
    return any(
        part.startswith(".") or part in _ACTING or _SHORT.fullmatch(part)
        for part in _bare_parts(name)
    )


def is_git(name: str) -> bool:
    """Whether some file system takes a file or folder of that name for ``.git``."""
    return any(_GIT.fullmatch(part) for part in _bare_parts(name))


def harmless(name: str, ending: str = ".txt") -> str:
    """A name that is like this one, can be given to any file, and on which no program acts."""
    seen = without_hidden(unicodedata.normalize("NFKC", without_hidden(name.removesuffix(ending))))
    stem = _UNFIT.sub("-", seen).encode()[:_LONGEST].decode("utf-8", "ignore").strip("-")
    return f"{stem or 'file'}{ending}"


def _bare_parts(name: str) -> list[str]:
    return [_bare(part) for part in _PARTS.split(_bare(name))]


def _bare(name: str) -> str:
    """The name as all its spellings have it."""
    shown = unicodedata.normalize("NFKC", without_hidden(name)).casefold()
    # again, as what was taken apart may hold such code points, and what was folded is not composed
    shown = unicodedata.normalize("NFKC", without_hidden(shown))
    begins = shown.lstrip()
    return begins.rstrip(". ") or begins
