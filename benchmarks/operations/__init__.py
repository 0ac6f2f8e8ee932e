"""What is done to services and writers of records: they are asked, and killed."""
