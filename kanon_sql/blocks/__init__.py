"""Releases in blocks of rows that lie close together: what files and Spark share.

The passes, each a module: what is asked (request), what all rows have in common (learn), where they
are cut (cuts), each block through the query that ``anonymize`` runs (group), and what all of them
are together (metrics). Where the rows are, and how they are counted, an engine knows: see
kanon_sql/files and kanon_sql/spark.
"""
