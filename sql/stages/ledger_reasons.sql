-- Why a row isn't shown, in one word: a part of
-- anonymize_suppressed('t', k=5, entity='id', ledger='releases').
__kanon_reasons AS (
    SELECT persons.__kanon_row,
           CASE WHEN persons.__kanon_row NOT IN (SELECT __kanon_row FROM __kanon_kept)
                    THEN 'suppressed'
                WHEN past.person IS NULL THEN 'waiting'
                WHEN past.source <> persons.source THEN 'stale'
                ELSE 'withheld' END AS reason
    FROM __kanon_owners AS persons LEFT JOIN __kanon_past AS past USING (person)
)
