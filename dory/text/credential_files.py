"""Files that look as if they held credentials, known by their names. Pure."""

from fnmatch import fnmatchcase

_PATTERNS = (
    *(".env", ".env.*", "*.env", "*.env.*", ".envrc", ".netrc", "_netrc", ".npmrc", ".pypirc"),
    *(".pgpass", ".htpasswd", ".git-credentials"),
    *(".ssh", ".aws", ".gnupg", "kubeconfig", "auth.json"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.pem.*", "*.key"),
    *("*.key.*", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk"),
    *("token", "token.*", "*.token", "*credential*", "*secret*"),
    *("*password*", "*passwd*", "api_key*", "apikey*", "service-account*", "service_account*"),
)
"""Names of files and folders, in lower case."""


def is_secret(path: str) -> bool:
    """Whether the file at ``path`` looks like one that holds credentials, by its name or that of a
    folder on the way, in any case.
    """
    return any(
        fnmatchcase(name, pattern) for name in path.lower().split("/") for pattern in _PATTERNS
    )
