-- What an audit says of persons: a part of
-- k_anonymity('visits', quasi_identifiers=['age', 'zip'], entity='patient_id', k=5).
any_value(persons) AS persons,
       any_value(most_rows) AS rows_per_person_max,
       min(crowd) AS k_persons,
       min(__kanon_size // most) AS k_apart,
       any_value(scattered) AS persons_in_several_classes,
       count(*) FILTER (WHERE crowd = 1) AS classes_of_one_person,
       CASE WHEN ${k} IS NOT NULL
           THEN count(*) FILTER (WHERE crowd < ${k}) END AS classes_below_k_persons,
       1.0::DOUBLE / min(crowd) AS risk_max_persons
