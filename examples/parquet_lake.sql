-- An ETL job: a folder of Parquet files in, one anonymized Parquet file out.
-- Run it on a connection after kanon_sql.register(con).

COPY (SELECT i AS person, 18 + (i * 7) % 60 AS age, 10000 + (i * 37) % 90 AS zip,
             DATE '2024-01-01' + (i % 200)::INTEGER AS visit, 20 + (i * i) % 80 AS cost
      FROM range(1000) AS r(i))
TO 'visits_1.parquet';

COPY (SELECT * REPLACE (person + 1000 AS person) FROM 'visits_1.parquet') TO 'visits_2.parquet';

-- the person is dropped, the cost passes, the rest is generalized; a job that is killed leaves no
-- part of a release under its name
COPY (
    SELECT * FROM anonymize('visits_*.parquet', k=10, method='mdav_plus',
                            identifiers=['person'], sensitive=['cost'])
) TO 'release.parquet' (USE_TMP_FILE true);

-- a job that must fail where the release is not 10-anonymous (it can't be: anonymize checks)
SELECT CASE WHEN k >= 10 THEN 'released' ELSE error('not 10-anonymous') END AS outcome
FROM k_anonymity('release.parquet', sensitive=['cost']);
