"""The pages: they show, ask and send; the rooms own the facts."""
