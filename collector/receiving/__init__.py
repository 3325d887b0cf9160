"""From a sender's bytes to the queue: transports, limits, inspection, answers."""
