"""A failed run becomes a case that is tried for ever, in fresh places."""
