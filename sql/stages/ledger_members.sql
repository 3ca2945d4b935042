-- Who is in each crowd of this release, which stands by its history: a part of
-- anonymize('t', k=5, entity='id', ledger='releases', l=2, sensitive=['disease']).
__kanon_members AS MATERIALIZED (
    SELECT pairs.history AS combination, entries.__kanon_row
    FROM (SELECT mine.history, theirs.history AS others
          FROM __kanon_steps_after AS mine JOIN __kanon_steps_after AS theirs
              ON mine.step = theirs.step
          WHERE mine.last_release = (SELECT release FROM __kanon_numbered)
          GROUP BY mine.history, theirs.history
          HAVING count(*) = any_value(mine.length)${equal}) AS pairs
    JOIN __kanon_histories_after AS histories ON histories.history = pairs.others
    JOIN (SELECT person,
                 list_sort(list({'release': release, 'class': class}), 'ASC', 'NULLS LAST') AS steps
          FROM __kanon_exposed GROUP BY person) AS lives USING (steps)
    JOIN __kanon_entries AS entries USING (person)
),
