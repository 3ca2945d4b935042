"""The shell: ``kanon anonymize patients.parquet -o released.parquet -k 5``, and its other commands.

Each command is a module, loaded when it is asked for; main.py lists them all.
"""
