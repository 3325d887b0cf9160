"""`python -m gnomon` is the command `gnomon`."""

from gnomon.cli import main

main()
