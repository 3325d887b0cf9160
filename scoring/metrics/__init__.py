"""Nine metrics, each with its guard; seven surfaces, side by side; three numbers, together."""
