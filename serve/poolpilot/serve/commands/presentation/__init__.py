"""What several commands show alike."""
