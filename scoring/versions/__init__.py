"""Two versions compared: live over the same weeks, and on the same tasks, under a rule written before."""
