import pytest

from gnomon.errors import HistoryRewritten
from gnomon.store.migrate import Migration, fill, history, missing, shipped


def test_a_gap_in_the_numbers_is_refused() -> None:
    with pytest.raises(HistoryRewritten, match="0002 is missing"):
        history({"0001_collector_a.sql": "x", "0003_collector_c.sql": "x"})


def test_a_number_that_stands_twice_is_refused() -> None:
    with pytest.raises(HistoryRewritten, match="stands twice"):
        history({"0001_collector_a.sql": "x", "0001_collector_b.sql": "x"})


@pytest.mark.parametrize(
    "name", ["1_a.sql", "0001.sql", "0001_Collector_a.sql", "0001_collector.sql"]
)
def test_a_file_that_does_not_name_its_owner_is_refused(name: str) -> None:
    with pytest.raises(HistoryRewritten, match="NNNN_owner_what"):
        history({name: "x"})


def test_files_are_ordered_by_number_whatever_the_folder_says() -> None:
    found = history({"0002_collector_b.sql": "b", "0001_collector_a.sql": "a"})
    assert [m.number for m in found] == [1, 2]


def test_what_is_missing_is_what_was_not_applied() -> None:
    one, two = history({"0001_collector_a.sql": "a", "0002_collector_b.sql": "b"})
    assert missing({1: one.checksum}, [one, two]) == [two]


def test_the_checksum_is_that_of_the_text_as_shipped() -> None:
    assert Migration(number=1, name="a", text="").checksum == (
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )


def test_the_two_words_are_filled_in_from_the_settings() -> None:
    text = "CREATE TABLE a {{on_cluster}} ENGINE = {{replicated}}MergeTree"
    assert fill(text, "") == "CREATE TABLE a  ENGINE = MergeTree"
    assert fill(text, "ours") == "CREATE TABLE a ON CLUSTER 'ours' ENGINE = ReplicatedMergeTree"


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("ALTER TABLE runs MODIFY COLUMN a UInt64", True),
        ("ALTER TABLE runs UPDATE a = 1 WHERE 1", True),
        ("-- rewrites: 3 minutes per 100 M rows\nALTER TABLE runs MATERIALIZE COLUMN a", False),
        ("ALTER TABLE runs ADD COLUMN a UInt64", False),
    ],
)
def test_a_statement_that_rewrites_a_column_says_how_long_it_takes(
    text: str, refused: bool
) -> None:
    assert Migration(number=1, name="a", text=text).unannounced_rewrite is refused


def test_shipped_migrations_hold_one_statement_each_and_can_be_interrupted() -> None:
    for migration in shipped():
        statement = migration.statement
        assert ";" not in statement, migration.name
        assert "IF NOT EXISTS" in statement or "IF EXISTS" in statement, migration.name
        assert not migration.unannounced_rewrite, migration.name
        if "MergeTree" in statement:
            assert "{{replicated}}" in statement, migration.name
        assert "{{on_cluster}}" in statement, migration.name
