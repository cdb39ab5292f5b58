"""Reports for people: self-contained HTML pages."""
