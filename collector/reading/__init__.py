"""What the store holds, read back: runs, steps, spans, changes and figures over many runs."""
