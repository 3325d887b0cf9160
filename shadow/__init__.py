"""A candidate proposes, people act, the two are compared. Nothing here can act."""
