import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gnomon.cli.app import app
from gnomon.clock import utc_now
from gnomon.errors import ConfigError, HistoryRewritten, StoreUnavailable
from gnomon.model import Run, Step
from gnomon.store import Store
from gnomon.store.migrate import applied, apply, bring_up_to_date, history, pending, shipped
from tests.stores import BOTH, fresh_store

ROOT = Path(__file__).parents[2]

FIRST = "CREATE TABLE IF NOT EXISTS one {{on_cluster}} (a String) ENGINE = {{replicated}}MergeTree ORDER BY a"
SECOND = "ALTER TABLE one ADD COLUMN IF NOT EXISTS b String"
TEXTS = {"0001_collector_one.sql": FIRST, "0002_collector_one_b.sql": SECOND}


@pytest.fixture(params=BOTH)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with fresh_store(request.param, tmp_path) as opened:
        yield opened


def test_migrations_are_applied_once_in_order(store: Store) -> None:
    migrations = history(TEXTS)
    assert pending(store, migrations) == migrations
    apply(store, migrations)
    assert pending(store, migrations) == []
    apply(store, migrations)  # a second process that had read the same list does no harm
    assert store.read("SELECT a, b FROM one", tag="t") == []
    assert set(applied(store)) == {1, 2}


def test_listing_what_is_pending_changes_nothing(store: Store) -> None:
    pending(store, history(TEXTS))
    assert store.read("SHOW TABLES", tag="t") == []


def test_an_interrupted_migration_runs_again(store: Store) -> None:
    store.command(FIRST.replace("{{on_cluster}}", "").replace("{{replicated}}", ""), tag="t")
    apply(store, pending(store, history(TEXTS)))
    assert set(applied(store)) == {1, 2}


def test_a_rewritten_history_is_refused_with_the_mend(store: Store) -> None:
    apply(store, history(TEXTS))
    changed = history({**TEXTS, "0001_collector_one.sql": FIRST + " -- better"})
    with pytest.raises(HistoryRewritten, match=r"0001_collector_one\.sql.*put the old text back"):
        pending(store, changed)


def test_an_older_program_refuses_a_newer_schema(store: Store) -> None:
    apply(store, history(TEXTS))
    with pytest.raises(ConfigError, match="install a newer version"):
        pending(store, history(TEXTS)[:1])


def test_a_file_for_clusters_is_left_out_elsewhere(store: Store) -> None:
    texts = {
        "0001_collector_far.sql": "-- only: cluster\nCREATE TABLE far (a String) ENGINE = Nope"
    }
    assert pending(store, history(texts)) == []


def test_a_failed_migration_is_not_remembered(store: Store) -> None:
    broken = history(
        {**TEXTS, "0002_collector_one_b.sql": "ALTER TABLE nowhere ADD COLUMN b String"}
    )
    with pytest.raises(ConfigError):
        apply(store, broken)
    assert set(applied(store)) == {1}


def test_the_shipped_migrations_can_be_applied_twice(store: Store) -> None:
    apply(store, shipped())
    tables = store.read("SHOW TABLES", tag="t")
    apply(store, shipped(), clock=utc_now)
    assert store.read("SHOW TABLES", tag="t") == tables


@pytest.mark.parametrize(
    ("table", "row_type", "extra"),
    [
        ("steps", Step, {"folded_at", "is_deleted"}),
        ("runs", Run, {"reading", "folded_at", "is_deleted"}),
    ],
)
def test_a_table_has_the_columns_of_its_row_type(
    store: Store, table: str, row_type: type, extra: set[str]
) -> None:
    apply(store, shipped())
    sql = (
        "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {t:String}"
        " AND default_kind != 'MATERIALIZED'"
    )
    columns = {row["name"] for row in store.read(sql, tag="t", t=table)}
    assert columns == {field.name for field in fields(row_type)} | extra


def test_an_embedded_store_is_brought_up_to_date_at_the_start(tmp_path: Path) -> None:
    with fresh_store("embedded", tmp_path) as store:
        assert bring_up_to_date(store) == shipped()
        assert bring_up_to_date(store) == []


def test_a_server_that_lacks_a_migration_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fresh_store("embedded", tmp_path) as store:
        monkeypatch.setattr(Store, "embedded", False)
        with pytest.raises(ConfigError, match="gnomon migrate"):
            bring_up_to_date(store)
        monkeypatch.undo()


@pytest.fixture
def nowhere(tmp_path: Path) -> Path:
    return tmp_path / "nothing" / "data"


def test_a_dry_run_lists_everything_and_leaves_nothing_behind(nowhere: Path) -> None:
    found = CliRunner().invoke(app, ["migrate", "--dry-run", "--json", "--data", str(nowhere)])
    assert found.exit_code == 0
    assert json.loads(found.stdout)["migrations"] == [one.name for one in shipped()]
    assert not nowhere.parent.exists()


def test_a_server_that_is_away_is_called_unreachable(nowhere: Path) -> None:
    url = "http://127.0.0.1:9/gnomon"
    found = CliRunner().invoke(app, ["migrate", "--dry-run", "--store", url])
    assert isinstance(found.exception, StoreUnavailable)
    assert "ClickHouse at http://127.0.0.1:9 is unreachable" in found.exception.detail
    assert "let us in" not in found.exception.detail


def test_a_server_that_is_away_is_told_in_one_line_without_the_words_of_libraries() -> None:
    command = [sys.executable, "-m", "gnomon", "migrate", "--store", "http://127.0.0.1:9/gnomon"]
    told = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT).stderr
    assert told == (
        "gnomon: ClickHouse at http://127.0.0.1:9 is unreachable: is it up, and is"
        " GNOMON_STORE__URL right? (Connection refused)\n"
    )
