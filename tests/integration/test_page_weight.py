"""What the first pages of a store with history load: nothing that takes a second to import."""

import subprocess
import sys
from pathlib import Path

PAGES = (
    "/?period=30d",
    "/runs?period=30d",
    "/agents/refund-desk?period=30d",
    "/policies?period=30d",
    "/status",
)
SCRIPT = """
import sys
from pathlib import Path
from tests import desk, judged_desk, site

assert "scipy" not in sys.modules
with judged_desk.judged_desk(Path(sys.argv[1]), count=120) as made:
    watched = judged_desk.METRICS.model_copy(update={"cluster_by": "topic"})
    judging = judged_desk.judging_of(made.store, made.reader, watched=watched)
    shown = site.site(made.reader, desk.books(), judging)
    with shown.client as client:
        for page in sys.argv[2:]:
            assert client.get(page).status_code == 200, page
            assert "scipy.stats" not in sys.modules, page
"""


def test_pages_of_a_store_with_history_and_clusters_are_shown_without_the_second_of_scipy_stats(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), *PAGES],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
