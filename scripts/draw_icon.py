"""Draws the icon: a heart with a pulse line, into the integration's brand folder.

usage: python scripts/draw_icon.py      (needs Pillow)
"""

from pathlib import Path

from PIL import Image, ImageDraw

BRAND = Path(__file__).parents[1] / "custom_components" / "proactive_agent" / "brand"
SIZES = {"icon.png": 256, "icon@2x.png": 512}

CANVAS = 2048  # drawn large and scaled down, which smooths every edge
TOP_COLOR = (255, 107, 129)
BOTTOM_COLOR = (214, 40, 88)
LINE_COLOR = (255, 255, 255)
LINE_WIDTH = 0.05

# All in parts of the canvas. Each half of the heart narrows from its lobe to the tip.
LOBES = ((0.273, 0.311), (0.727, 0.311))
LOBE_RADIUS = 0.273
TIP = (0.5, 0.912)
TIP_RADIUS = 0.048

# The pulse: rest, a small wave, the beat, the echo, rest.
PULSE = (
    (0.165, 0.480),
    (0.315, 0.480),
    (0.365, 0.400),
    (0.415, 0.480),
    (0.483, 0.235),
    (0.555, 0.690),
    (0.620, 0.400),
    (0.665, 0.480),
    (0.835, 0.480),
)


def heart() -> Image.Image:
    """Return the heart as a mask."""
    shape = Image.new("L", (CANVAS, CANVAS))
    pen = ImageDraw.Draw(shape)
    steps = CANVAS // 2
    for lobe in LOBES:
        for step in range(steps + 1):
            part = step / steps
            x, y = (a + (b - a) * part for a, b in zip(lobe, TIP, strict=True))
            radius = LOBE_RADIUS + (TIP_RADIUS - LOBE_RADIUS) * part
            pen.circle((x * CANVAS, y * CANVAS), radius * CANVAS, fill=255)
    between = (*LOBES, TIP)
    pen.polygon([(x * CANVAS, y * CANVAS) for x, y in between], fill=255)
    return shape


def gradient() -> Image.Image:
    """Return the colours of the heart, from its top to its tip."""
    ramp = Image.linear_gradient("L").resize((CANVAS, CANVAS))
    return Image.composite(
        Image.new("RGB", ramp.size, BOTTOM_COLOR),
        Image.new("RGB", ramp.size, TOP_COLOR),
        ramp,
    )


def draw() -> Image.Image:
    """Return the icon on the large canvas."""
    icon = gradient()
    pulse = [(x * CANVAS, y * CANVAS) for x, y in PULSE]
    width = round(LINE_WIDTH * CANVAS)
    pen = ImageDraw.Draw(icon)
    pen.line(pulse, fill=LINE_COLOR, width=width, joint="curve")
    for x, y in (pulse[0], pulse[-1]):
        pen.circle((x, y), width / 2, fill=LINE_COLOR)
    icon.putalpha(heart())
    return icon


def main() -> None:
    """Write every size."""
    icon = draw()
    BRAND.mkdir(exist_ok=True)
    for name, size in SIZES.items():
        icon.resize((size, size), Image.Resampling.LANCZOS).save(
            BRAND / name, optimize=True
        )


if __name__ == "__main__":
    main()
