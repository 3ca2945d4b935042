-- How many persons share what an attacker can link of somebody in all releases: a part of
-- ledger_check('releases', k=5). Persons with equal histories are alike, so they are counted by
-- history: a list of (release, class). Those who have all steps of a history are found by joining
-- step by step; nobody else has as many in common with it as it has steps.
__kanon_histories${s} AS MATERIALIZED (  -- the different histories, and how many persons have each
    SELECT row_number() OVER () AS history, steps, persons
    FROM (SELECT steps, count(*) AS persons
          FROM (SELECT list_sort(list({'release': release, 'class': class}), 'ASC', 'NULLS LAST')
                           AS steps
                FROM ${exposed} GROUP BY person)
          GROUP BY steps)
),
__kanon_steps${s} AS MATERIALIZED (
    SELECT history, persons, len(steps) AS length, steps[len(steps)].release AS last_release,
           unnest(steps) AS step
    FROM __kanon_histories${s}
),
__kanon_crowds${s} AS MATERIALIZED (  -- of each history: those who have it, and who have all its steps
    SELECT history, persons, last_release, sum(others)::BIGINT AS crowd
    FROM (SELECT mine.history, any_value(mine.persons) AS persons,
                 any_value(mine.last_release) AS last_release, any_value(theirs.persons) AS others
          FROM __kanon_steps${s} AS mine JOIN __kanon_steps${s} AS theirs ON mine.step = theirs.step
          GROUP BY mine.history, theirs.history
          HAVING count(*) = any_value(mine.length))
    GROUP BY history, persons, last_release
)
