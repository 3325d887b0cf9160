"""Graders: versioned procedures from the evidence of a run to one judgment."""
