-- Where a number lies between the least, at 0, and the largest, at 1: a part of
-- anonymize('t', k=5, t=0.2, closeness='numeric', sensitive=['salary']).
coalesce((number - min(number) OVER ()) / nullif(max(number) OVER () - min(number) OVER (), 0), 0)
