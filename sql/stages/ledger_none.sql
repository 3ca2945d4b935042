-- The ledger before the first release: a part of
-- anonymize_ledger('t', k=5, entity='id', quasi_identifiers=['age', 'zip']).
(SELECT NULL::BIGINT AS release, ${entity} AS entity, NULL::BIGINT AS class, NULL AS published,
        NULL::VARCHAR AS source, NULL::VARCHAR AS options FROM __kanon_source WHERE false)
