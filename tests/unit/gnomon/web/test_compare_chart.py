from gnomon.web.compare_chart import left
from scoring.stats.results import Estimate
from scoring.stats.shown import shown_difference


def test_what_is_left_out_is_counted_apart_from_why() -> None:
    """171 runs in weeks of base only are no 171 weeks."""
    found = shown_difference(
        Estimate(value=0.1), n=133, unit="run", method="m", open=5,
        excluded={"weeks_of_base_only": 1171},
    )  # fmt: skip
    assert left(found) == "1,171 (weeks of base only), 5 undecided"
