"""An address as an owner types it → the base URL of an OpenAI-compatible API."""

from ipaddress import IPv6Address
import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

_PASTED: Final = ("/chat/completions", "/completions", "/models", "/responses")
_HOST: Final = re.compile(r"[\w.-]+")
_UNFIT: Final = re.compile(r"[\s\x00-\x1f\x7f\\]")


def normalise_url(text: str) -> str:
    """Put a base URL right; what is right already comes back as it is.

    Blanks around it, a missing scheme, a trailing slash, a query, a fragment and a
    pasted endpoint such as `/chat/completions` are mended; no path becomes `/v1`.

    Raises `ValueError` for what is no http(s) URL, and for one that carries a user
    and a password: a URL is shown in many places, a key has a field of its own.
    """
    text = text.strip()
    if _UNFIT.search(text) or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:/(?!/)", text):
        raise ValueError("not a URL")
    parts = urlsplit(text if "://" in text else f"http://{text}")
    if parts.scheme not in ("http", "https"):
        raise ValueError("neither http nor https")
    if "@" in parts.netloc:
        raise ValueError("a user or password in the URL")
    return f"{parts.scheme}://{_authority(parts)}{_path(parts.path)}"


def _authority(parts: SplitResult) -> str:
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{IPv6Address(host)}]"
    elif not _HOST.fullmatch(host):
        raise ValueError("no host")
    return host if parts.port is None else f"{host}:{parts.port}"


def _path(path: str) -> str:
    path = re.sub("/{2,}", "/", path).rstrip("/")
    for pasted in _PASTED:
        if path.endswith(pasted):
            return _path(path.removesuffix(pasted))
    return path or "/v1"
