"""Foreign text as a piece of one line."""

import unicodedata


def one_line(text: str, limit: int) -> str:
    """Return at most `limit` characters without breaks or control characters (A1)."""
    plain = "".join(
        " " if unicodedata.category(char)[0] in "CZ" else char
        for char in text[: limit * 4]
    )
    plain = " ".join(plain.split())
    return plain if len(plain) <= limit else f"{plain[:limit]}…"
