-- What each class releases, of those that go on what they released before: a part of
-- anonymize('t', k=5, entity='id', ledger='releases').
SELECT * FROM (${classes})
    WHERE __kanon_class NOT IN (SELECT class FROM __kanon_frozen)
    UNION ALL BY NAME
    (SELECT COLUMNS(lambda name: list_contains(${quasi}, __kanon_caseless(name)))
     FROM __kanon_published_before
     WHERE __kanon_class IN (SELECT __kanon_class FROM __kanon_labels))
