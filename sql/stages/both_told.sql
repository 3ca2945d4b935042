-- What is counted of each column, by rows and by persons: a part of
-- anonymize_roles('visits', entity='patient_id').
(SELECT to_json({'rows': profiles, 'persons': told})::VARCHAR
 FROM __kanon_profiles CROSS JOIN __kanon_told)
