"""What one run may do, however it is asked for."""

from collections.abc import Callable
from dataclasses import dataclass

from ..engine.reach import Reach


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms on which a guard lets the actions of one run through.

    - `permitted` returns what may be touched now: what was taken out of it while the
      run goes on is refused (C7).
    - `ask_before_risky` has the owner asked before anything that is not free (P1).
    - `max_actions` is how many actions the run may take (F5).
    - In a `dry_run` nothing is called and nobody is asked (A9).
    """

    permitted: Callable[[], Reach]
    ask_before_risky: bool
    max_actions: int
    dry_run: bool = False
