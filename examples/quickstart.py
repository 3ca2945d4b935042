"""From a table to a release, its metrics and its audit: python examples/quickstart.py"""

import duckdb

import kanon_sql
from kanon_sql.data import adult

con = kanon_sql.register(duckdb.connect())
con.execute("CREATE TABLE adult AS FROM read_parquet(?)", [adult()])

# say once, in the catalog, what the columns are
con.execute("COMMENT ON COLUMN adult.\"salary-class\" IS 'kanon: sensitive'")

con.execute("CREATE TABLE release AS SELECT * FROM anonymize('adult', k=5, method='mdav_plus')")
con.sql("FROM release LIMIT 5").show()

con.sql(
    "SELECT metric, value, unit FROM anonymize_metrics('adult', k=5, method='mdav_plus') "
    "WHERE metric IN ('rows', 'rows_released', 'classes', 'k', 'information_loss')"
).show()

# the audit reads any table, and needs nothing from the release but its values
con.sql("FROM k_anonymity('release', sensitive=['salary-class'], k=5)").show()
