"""Writers of what pages quote: each makes a part between markers of reports."""
