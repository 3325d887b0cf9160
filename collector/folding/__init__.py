"""From spans to steps and runs: a pure fold, and the roll-up that calls it for what was touched."""
