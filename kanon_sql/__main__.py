"""``python -m kanon_sql`` is the shell ``kanon``."""

from kanon_sql.cli.begin import start

start()
