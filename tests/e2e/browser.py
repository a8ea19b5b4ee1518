"""Debian's chromium, or another one, with somebody logged in."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
import json
import shutil
import time
from typing import Final

from playwright.async_api import Browser, Page, async_playwright, expect

from demo_house.running import House

PATIENCE: Final = 15_000  # milliseconds
WIDTH: Final = 1280
HEIGHT: Final = 1000
FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@asynccontextmanager
async def running_browser() -> AsyncIterator[Browser]:
    """Start a headless chromium, and end it."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    expect.set_options(timeout=PATIENCE)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium, args=[*FLAGS]
        )
        yield browser
        await browser.close()


@asynccontextmanager
async def open_page(
    browser: Browser,
    house: House,
    *,
    width: int = WIDTH,
    height: int = HEIGHT,
    scale: float = 1,
) -> AsyncIterator[Page]:
    """Open a window of its own on the house, logged in as its owner."""
    context = await browser.new_context(
        viewport={"width": width, "height": height},
        device_scale_factor=scale,
        base_url=house.url,
        locale="en-US",
        color_scheme="light",
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE)
    tokens = {
        "hassUrl": house.url,
        "clientId": f"{house.url}/",
        "access_token": house.api.token,
        "refresh_token": "",
        "expires_in": 1800,
        "expires": (time.time() + 1800) * 1000,
        "token_type": "Bearer",
    }
    # A blank page has no storage, and says so by an error.
    await context.add_init_script(
        f"if (location.origin === {json.dumps(house.url)})"
        f" localStorage.setItem('hassTokens', {json.dumps(json.dumps(tokens))});"
    )
    yield await context.new_page()
    await context.close()
