"""Runs judged: policies, outcomes, samples, labels, metrics and statistics."""
