import pytest

from gnomon.store import sql


def test_statements_are_found_by_name_without_their_semicolon() -> None:
    text = "-- a file\n-- name: one\nSELECT 1;\n\n-- name: two\n-- why\nSELECT ';' AS x\n"
    assert sql.parse(text) == {"one": "SELECT 1", "two": "-- why\nSELECT ';' AS x"}


def test_a_name_that_stands_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="one stands twice"):
        sql.parse("-- name: one\nSELECT 1;\n-- name: one\nSELECT 2;")


def test_an_empty_statement_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        sql.parse("-- name: one\n\n-- name: two\nSELECT 1;")


def test_a_package_brings_its_own_file() -> None:
    assert "FINAL" in sql.load("gnomon.store")["applied_migrations"]
