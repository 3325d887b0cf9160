"""The colours of app.css: contrast, and how far apart they stay for every kind of sight."""

import itertools
import math
import re

import pytest

from gnomon.web.assets import load

CSS = load().plain["app.css"].body.decode()
RGB = tuple[float, float, float]


def tokens(theme: int) -> dict[str, str]:
    found = re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", CSS)
    return {name: (light, dark)[theme] for name, light, dark in found}


LIGHT, DARK = tokens(0), tokens(1)
THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


def rgb(text: str) -> RGB:
    return tuple(int(text[at : at + 2], 16) / 255 for at in (1, 3, 5))  # type: ignore[return-value]


def linear(colour: RGB) -> RGB:
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour)  # type: ignore[return-value]


def contrast(one: str, other: str) -> float:
    """Return the ratio of WCAG 2.2."""

    def light(text: str) -> float:
        r, g, b = linear(rgb(text))
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
SIGHT: dict[str, tuple[RGB, RGB, RGB]] = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def lab(text: str, sight: str) -> RGB:
    source = linear(rgb(text))
    r, g, b = (
        min(1.0, max(0.0, sum(w * c for w, c in zip(row, source, strict=True))))
        for row in SIGHT[sight]
    )
    x = (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047
    y = 0.2126729 * r + 0.7151522 * g + 0.0721750 * b
    z = (0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883

    def f(t: float) -> float:
        return t ** (1 / 3) if t > (6 / 29) ** 3 else t / (3 * (6 / 29) ** 2) + 4 / 29

    return 116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))


def ciede2000(one: RGB, other: RGB) -> float:
    """Return the difference of Sharma, Wu and Dalal 2005."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    g = 0.5 * (1 - math.sqrt(mean**7 / (mean**7 + 25**7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    dl, dc = l2 - l1, c2 - c1
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    dh = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn) / 2)
    lm, cm = (l1 + l2) / 2, (c1 + c2) / 2
    if c1 * c2 == 0:
        hm = h1 + h2
    elif abs(h1 - h2) <= 180:
        hm = (h1 + h2) / 2
    else:
        hm = (h1 + h2 + 360) / 2 if h1 + h2 < 360 else (h1 + h2 - 360) / 2

    def cos(degrees: float) -> float:
        return math.cos(math.radians(degrees))

    t = (
        1
        - 0.17 * cos(hm - 30)
        + 0.24 * cos(2 * hm)
        + 0.32 * cos(3 * hm + 6)
        - 0.20 * cos(4 * hm - 63)
    )
    sl = 1 + 0.015 * (lm - 50) ** 2 / math.sqrt(20 + (lm - 50) ** 2)
    sc, sh = 1 + 0.045 * cm, 1 + 0.015 * cm * t
    rotation = 60 * math.exp(-(((hm - 275) / 25) ** 2))
    rt = -2 * math.sqrt(cm**7 / (cm**7 + 25**7)) * math.sin(math.radians(rotation))
    return math.sqrt((dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + rt * (dc / sc) * (dh / sh))


def nearest(theme: dict[str, str], names: list[str], sight: str) -> float:
    points = [lab(theme[name], sight) for name in names]
    return min(ciede2000(one, other) for one, other in itertools.combinations(points, 2))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, -1.3802, -84.2814), (50.0, 0.0, -82.7485), 1.0000),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_difference_is_that_of_the_published_table(
    one: RGB, other: RGB, expected: float
) -> None:
    assert ciede2000(one, other) == pytest.approx(expected, abs=1e-4)


def test_every_colour_of_the_specification_is_there() -> None:
    assert (LIGHT["bg"], DARK["bg"]) == ("#f6f7f9", "#0e1116")
    assert (LIGHT["pass-mark"], DARK["pass-mark"]) == ("#2f9e8f", "#7fe0c0")
    assert (LIGHT["fail-mark"], DARK["fail-mark"]) == ("#b84c00", "#f0562b")
    assert (LIGHT["unknown-mark"], DARK["unknown-mark"]) == ("#475467", "#868e9c")
    assert (LIGHT["hatch"], DARK["hatch"]) == ("#475467", "#a4acb9")
    assert (LIGHT["wrapper"], DARK["wrapper"]) == ("#b6bdc9", "#3d4654")


def test_browsers_without_light_dark_get_exactly_the_light_colours() -> None:
    fallback = CSS[CSS.index("@supports not") : CSS.index("/* Ground */")]
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", fallback))
    assert found == LIGHT


@THEMES
@pytest.mark.parametrize("ground", ["bg", "surface", "sunken"])
@pytest.mark.parametrize(
    "name", ["text", "muted", "accent", "pass-text", "fail-text", "unknown-text"]
)
def test_text_can_be_read_on_every_ground(theme: dict[str, str], ground: str, name: str) -> None:
    assert contrast(theme[name], theme[ground]) >= 4.5


@THEMES
@pytest.mark.parametrize("name", ["pass", "fail", "unknown"])
def test_verdict_text_can_be_read_on_its_fill(theme: dict[str, str], name: str) -> None:
    assert contrast(theme[f"{name}-text"], theme[f"{name}-fill"]) >= 4.5


@THEMES
@pytest.mark.parametrize(
    "name",
    [
        *("pass-mark", "fail-mark", "unknown-mark", "hatch", "control-border"),
        *("series-1", "series-2", "series-3", "series-4", "fail-area", "pass-area"),
    ],
)
def test_marks_and_edges_stand_out_from_the_surface(theme: dict[str, str], name: str) -> None:
    assert contrast(theme[name], theme["surface"]) >= 3


@THEMES
def test_the_labels_of_series_can_be_read(theme: dict[str, str]) -> None:
    for name in ("series-1", "series-2-text", "pass-text", "series-4"):
        assert contrast(theme[name], theme["surface"]) >= 4.5


ROUNDED = 0.5
"""The specification states the differences without digits."""
VERDICTS = ["pass-mark", "fail-mark", "unknown-mark"]


@pytest.mark.parametrize(
    ("theme", "sight", "least"),
    [
        (LIGHT, "normal", 33),
        (LIGHT, "protan", 29),
        (LIGHT, "deutan", 22.5),
        (LIGHT, "tritan", 28),
        (DARK, "normal", 31),
        (DARK, "protan", 26),
        (DARK, "deutan", 20.8),
        (DARK, "tritan", 26),
    ],
)
def test_verdicts_are_told_apart_by_every_sight(
    theme: dict[str, str], sight: str, least: float
) -> None:
    assert nearest(theme, VERDICTS, sight) >= least - ROUNDED


@pytest.mark.parametrize(
    ("sight", "least"), [("normal", 31), ("protan", 18.7), ("deutan", 24.3), ("tritan", 27.5)]
)
def test_dark_areas_are_told_apart_by_every_sight(sight: str, least: float) -> None:
    assert nearest(DARK, ["pass-area", "fail-area", "hatch"], sight) >= least - ROUNDED


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize(("theme", "least"), [(LIGHT, 19), (DARK, 15.6)], ids=["light", "dark"])
def test_series_are_told_apart_by_every_sight(
    theme: dict[str, str], least: float, sight: str
) -> None:
    names = ["series-1", "series-2", "series-3", "series-4"]
    assert nearest(theme, names, sight) >= least - ROUNDED
