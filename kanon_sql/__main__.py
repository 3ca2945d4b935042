"""``python -m kanon_sql`` is the shell ``kanon``."""

from kanon_sql.shell.begin import start

start()
