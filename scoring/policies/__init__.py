"""Rules that must hold in every run: one file, the same for production, shadow and trials."""
