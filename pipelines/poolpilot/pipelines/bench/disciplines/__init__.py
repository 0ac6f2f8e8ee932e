"""What each discipline of the queues promises, beside what it does: shares, bounds on waiting, order."""
