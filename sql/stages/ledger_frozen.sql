-- What the classes published, as cells in text, and whose they are: a part of
-- anonymize('t', k=5, entity='id', ledger='releases').
{'name': 'frozen',
 'names': (SELECT list_concat(['class'], *COLUMNS(*))
           FROM (SELECT [__kanon_name(COLUMNS(* EXCLUDE (__kanon_class))), '']
                 FROM ${one_published})),
 'rows': (SELECT list(list_concat([__kanon_class::VARCHAR], *COLUMNS(* EXCLUDE (__kanon_class))))
          FROM (SELECT __kanon_class, [
                    (__kanon_cell(COLUMNS(* EXCLUDE (__kanon_class)))).number::VARCHAR,
                    __kanon_key(COLUMNS(* EXCLUDE (__kanon_class)))]
                FROM __kanon_published_before))}
