"""ClickHouse, embedded or by URL: the only package that speaks to its driver."""

from gnomon.store.client import Store, is_there, open_store

__all__ = ["Store", "is_there", "open_store"]
