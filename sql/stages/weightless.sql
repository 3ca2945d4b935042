-- Refuses a column of weights that has a row without one: a part of anonymize_risk('t', weight='w').
        WHEN NOT (SELECT coalesce(bool_and(__kanon_weighs(${weight})), true) FROM __kanon_kept)
            THEN __kanon_refuse('DataError', ${said})
