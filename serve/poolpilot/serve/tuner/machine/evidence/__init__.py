"""What windows show: of a try beside what was before, of long statements, and of what a try leaves behind."""
