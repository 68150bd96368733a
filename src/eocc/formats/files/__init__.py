"""Tables, lines of JSON or text, and collections of graphs in files, read one chunk at a time."""
