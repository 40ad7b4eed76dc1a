"""What must not appear in anything that Dory keeps, sends or shows. Found here, hidden by
``formatting.redact``.
"""

import re
from collections.abc import Mapping
from urllib.parse import unquote

from dory.config.settings import Config

_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE")
_SECRET_IN_URL = re.compile(
    r"://(?:[^/?#\s:@]*:)?([^/?#\s]+)@"
    r"|[?&][\w-]*(?:key|token|secret|password|sig|signature|code)=([^&#\s]+)",
    re.IGNORECASE,
)
_PLACEHOLDERS = ("not-needed", "lm-studio", "no-key-required", "sk-no-key-required")
"""What the manuals of local servers say to give as a key."""


def secrets(config: Config, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Every value that must not appear, longest first: keys and tokens of the settings and of the
    environment, and what stands for one in an address there. If a value has several lines, each
    counts, because it may appear alone.
    """
    models = [config.own, *(profile for _, profile in config.profiles.rows)]
    values = [model.api_key for model in models]
    values += [value for name, value in environment.items() if name.upper().endswith(_SECRET_NAMES)]
    for address in (*(model.base_url for model in models), *environment.values()):
        for groups in _SECRET_IN_URL.findall(address):
            values += groups
            values += map(unquote, groups)
    lines = {line.strip() for value in values for line in value.splitlines()}
    return tuple(sorted(filter(_telling, lines), key=lambda value: (-len(value), value)))


def _telling(value: str) -> bool:
    """Whether it differs from ordinary text: "none", "lm-studio" or "production" may stand in any
    conversation.
    """
    word = (
        len(value) < 16
        and value.isalpha()
        and (value.islower() or value.isupper() or value.istitle())
    )
    return len(value) >= 8 and not word and value not in _PLACEHOLDERS
