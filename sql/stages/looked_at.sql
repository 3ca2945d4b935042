-- The combinations, as text by which they are equal: a part of anonymize_risk('patients').
(SELECT list({'size': __kanon_size, 'cells': cells})
    FROM (SELECT __kanon_size, [*COLUMNS(* EXCLUDE (__kanon_size))] AS cells
          FROM (SELECT __kanon_size, __kanon_key(COLUMNS('^__kanon_value_')) FROM __kanon_sizes)))
