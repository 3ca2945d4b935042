-- What runs where only DuckDB knows whether the relations exist: FROM anonymize('nope', k=5).
FROM system.main.query(CASE
${missing}
    ELSE ${text} END)
