"""What every room may use: named choices, checks of arguments, threads, text, atomic files."""
