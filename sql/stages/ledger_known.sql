-- What the grouping is told of the ledger, as text: the row of each person of the ledger, if there is
-- one, the history, whether the person changed since, and a lot. A part of
-- anonymize('t', k=5, entity='id', ledger='releases').
(SELECT list([persons.__kanon_row::VARCHAR, past.history,
                  CASE WHEN persons.__kanon_row IS NULL THEN NULL
                       ELSE (persons.source <> past.source)::VARCHAR END,
                  ((md5_number(concat(${seed}, ' ', release, ' ', past.person)) >> 64)::UBIGINT)::VARCHAR])
     FROM __kanon_past AS past LEFT JOIN __kanon_owners AS persons USING (person)
     CROSS JOIN __kanon_numbered)
