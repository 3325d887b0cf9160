"""Late outcomes: what happened to the work after the run had ended."""
