"""ClickHouse, embedded or by URL: the only package that speaks to its driver."""

from gnomon.store.client import Store, open_store

__all__ = ["Store", "open_store"]
