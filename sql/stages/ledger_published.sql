-- What each class of a ledger published, column by column: a part of
-- anonymize('t', k=5, entity='id', ledger='releases').
__kanon_published_before AS MATERIALIZED (
    SELECT class AS __kanon_class, unnest(published) FROM __kanon_frozen
),
