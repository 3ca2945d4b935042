-- What a release adds to its ledger, one row per person that is released:
-- CREATE TABLE releases AS FROM anonymize_ledger('patients', k=5, entity='id', headroom=1).
WITH ${pipeline}
SELECT entries.release, persons.entity, entries.class, shown.published, entries.source,
       (SELECT options FROM __kanon_asked) AS options
FROM __kanon_entries AS entries
JOIN (SELECT __kanon_row, ${entity} AS entity FROM __kanon_source) AS persons USING (__kanon_row)
JOIN (SELECT __kanon_class, ${published} AS published FROM __kanon_classes) AS shown
    ON shown.__kanon_class = entries.class
CROSS JOIN __kanon_check
WHERE __kanon_check.passed
ORDER BY entries.class ASC, md5(concat('${seed} ', entries.person)) ASC
