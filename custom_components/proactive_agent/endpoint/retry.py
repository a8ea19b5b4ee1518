"""How long to go on with a request that has failed."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
import random
from typing import Final

from ..engine.errors import Advice, ErrorKind, ModelError

type Sleep = Callable[[float], Awaitable[None]]

MAX_WAIT: Final = 60.0  # seconds; who must wait longer is told so instead
_LOADING_PAUSE: Final = 2.0  # seconds
_LOADING_MOST: Final = 10.0  # seconds; what servers foresee of it is a guess
_BACKOFF: Final = 1.0  # seconds before the second try, doubled for each next
_JITTER: Final = 0.25  # of a wait, at most, is added to it


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How long to go on with one request: in seconds, and in tries by kind of error.

    A kind that is not named is not tried again. So of the 4xx answers only 408 and 429
    are, and a mistake of the model itself that a server reports as one.
    """

    seconds: float
    tries: Mapping[ErrorKind, int]


# Within a run, `run_timeout` is the bound that counts.
RUN: Final = RetryPolicy(
    seconds=600,
    tries={
        ErrorKind.RATE_LIMIT: 4,
        ErrorKind.OVERLOADED: 4,
        ErrorKind.CONNECTION: 3,
        ErrorKind.TIMEOUT: 2,
        ErrorKind.INVALID_RESPONSE: 3,
        ErrorKind.LOADING: 300,
    },
)
# Somebody sits before a form; a model that is loaded by the question takes a while.
PROBE: Final = RetryPolicy(
    seconds=120,
    tries={
        ErrorKind.RATE_LIMIT: 2,
        ErrorKind.OVERLOADED: 2,
        ErrorKind.INVALID_RESPONSE: 2,
        ErrorKind.LOADING: 30,
    },
)
LIST: Final = replace(
    PROBE, seconds=20, tries={ErrorKind.OVERLOADED: 2, ErrorKind.LOADING: 5}
)
# An error is waiting to be told.
GLANCE: Final = RetryPolicy(seconds=5, tries={})


async def with_retries[T](
    ask: Callable[[], Awaitable[T]],
    policy: RetryPolicy,
    sleep: Sleep,
    on_failure: Callable[[ModelError], None] = lambda _err: None,
) -> T:
    """Ask until there is an answer or the policy says that it is enough.

    `on_failure` is called with each failure; the last is raised. If a wait between two
    tries is cancelled, the failure before it is the cause of the `CancelledError`.
    """
    failed = Counter[ErrorKind]()
    last: ModelError | None = None
    try:
        async with asyncio.timeout(policy.seconds):
            while True:
                try:
                    return await ask()
                except ModelError as err:
                    on_failure(err)
                    failed[err.kind] += 1
                    most = 1 if err.is_final else policy.tries.get(err.kind, 1)
                    if failed[err.kind] >= most:
                        raise
                    last = err
                await _sleep(_pause(last, failed[last.kind]), last, sleep)
    except TimeoutError as err:
        if last is None:
            last = ModelError(ErrorKind.TIMEOUT)
            on_failure(last)
        raise last from err


async def _sleep(seconds: float, err: ModelError, sleep: Sleep) -> None:
    try:
        await sleep(seconds)
    except asyncio.CancelledError as cancelled:
        is_loading = err.kind is ErrorKind.LOADING
        said = err.refined(advice=Advice.STILL_LOADING) if is_loading else err
        raise cancelled from said


def _pause(err: ModelError, failures: int) -> float:
    """Return the seconds to wait before the next try; raises where none makes sense.

    The jitter only ever adds: a server that names a time means at least that time.
    """
    if err.kind is ErrorKind.LOADING:
        wait = min(err.retry_after or _LOADING_PAUSE, _LOADING_MOST)
    elif err.retry_after is None or (failures > 1 and err.retry_after < _BACKOFF):
        wait = _BACKOFF * 2 ** (failures - 1)
    else:
        wait = err.retry_after
    if wait > MAX_WAIT:
        raise err.refined(advice=Advice.MUST_WAIT, seconds=f"{wait:.0f}") from err
    return wait * random.uniform(1, 1 + _JITTER)  # noqa: S311 - no secret
