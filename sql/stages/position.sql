-- Where a number lies between the least, at 0, and the largest, at 1: a part of
-- anonymize('t', k=5, t=0.2, closeness='numeric', sensitive=['salary']).
coalesce((number - system.main.min(number) OVER (${window})) / nullif(system.main.max(number) OVER (${window}) - system.main.min(number) OVER (${window}), 0), 0)
