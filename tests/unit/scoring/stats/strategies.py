"""What the properties of the statistics are tried on."""

from hypothesis import strategies as st

CONFIDENCE = st.floats(0.6, 0.999)
UNIT = st.floats(0, 1)


@st.composite
def parts(draw, most=300, least=1):
    """Return x of n."""
    n = draw(st.integers(least, most))
    return draw(st.integers(0, n)), n


@st.composite
def discordant(draw, most=300):
    """Return b, c of n."""
    n = draw(st.integers(1, most))
    b = draw(st.integers(0, n))
    return b, draw(st.integers(0, n - b)), n


@st.composite
def tables(draw, most=25, categories=(2, 4)):
    """Return a square table with at least one item."""
    q = draw(st.integers(*categories))
    row = st.lists(st.integers(0, most), min_size=q, max_size=q)
    found = draw(st.lists(row, min_size=q, max_size=q))
    if not any(map(sum, found)):
        found[0][0] = 1
    return found


@st.composite
def watched(draw, most=40):
    """Return times and whether each was the event."""
    pair = st.tuples(st.integers(1, 30), st.booleans())
    seen = draw(st.lists(pair, min_size=1, max_size=most))
    return [time for time, _ in seen], [event for _, event in seen]
