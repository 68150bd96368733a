"""The experiments: every system on every data set, by one protocol, beside the published figures.

sources     where patterns come from: a published set, or a user's own table
protocol    patterns -> what one run trains, validates and tests on
systems     the classifiers that are compared
cells       one system on one run -> its figures
store       figures on disk, written as they come
pool        cells on several processes, with time limits
statistics  figures -> means, tests, ranks
tables      means beside the published ones -> Markdown, CSV
figures     the paper's pictures, and that of the ranks
page        everything on one HTML page
studies     which sets and systems, and what is still to be run
writing     the files of a study
"""
