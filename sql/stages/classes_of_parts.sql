-- What each class releases, with the columns of within: a part of
-- anonymize('t', k=5, within=['day']).
SELECT * FROM (${classes})
    JOIN (SELECT __kanon_class, ${within} FROM __kanon_labelled GROUP BY __kanon_class)
        USING (__kanon_class)
