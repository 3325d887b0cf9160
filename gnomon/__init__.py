"""The floor and the doors of Gnomon: what every room stands on, and what people touch."""

__version__ = "0.1.0"
