-- Whether the relation of roles has changed since the planner read it: a part of
-- anonymize('t', k=5, roles='my_roles').
coalesce((SELECT list(line ORDER BY line ASC)
          FROM (SELECT row(*COLUMNS(*))::VARCHAR AS line FROM ${relation})), []) <> ${lines}
