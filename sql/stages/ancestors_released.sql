-- What each class releases where columns have a hierarchy: a part of
-- anonymize('t', k=5, hierarchies={'zip': 'prefix'}).
WITH ${ancestors}
SELECT _plain.* REPLACE (${labels})
    FROM (${plain}) AS _plain${joins}
