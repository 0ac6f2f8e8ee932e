"""What must survive a crash: writes that are on the disk, and a folder that one process at a time writes to."""
