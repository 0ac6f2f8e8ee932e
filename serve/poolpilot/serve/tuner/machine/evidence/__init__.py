"""What windows show: of a trial beside what was before, of long statements, and of what a trial leaves behind."""
