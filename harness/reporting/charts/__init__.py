"""The figures of the page, each with a title that says what it shows. Pure."""
