-- The distance along the line for numbers, dates and times, else the equal one: a part of
-- anonymize('t', k=5, t=0.2, sensitive=['disease']).
SELECT combination, size, passes, has FROM (
    ${ordered}
    ) WHERE (SELECT ${ordered_of} FROM __kanon_whole_${i})
    UNION ALL
    SELECT combination, size, passes, has FROM (
    ${equal}
    ) WHERE NOT (SELECT ${ordered_of} FROM __kanon_whole_${i})
