-- How many columns pass unchanged where others='release': a part of
-- anonymize_metrics('t', k=5, quasi_identifiers=['age'], others='release').
(SELECT len(names) FROM __kanon_names) - ${away} - (SELECT len(names) FROM __kanon_withheld)
