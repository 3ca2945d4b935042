"""Tables larger than memory: files in, files out, in blocks of rows that lie close together.

The passes, each a module: what is asked (asked), what all rows have in common (learn), where they
are cut (cuts), each row to its block (spool), each block through the query that ``anonymize`` runs
(block), the rows of all blocks into files (finish). What is done is kept in a state file (state),
so that a run that was stopped goes on where it was.
"""
