-- Whose a row is; encoded: without collation. A part of
-- k_anonymity('visits', quasi_identifiers=['age', 'zip'], sensitive=['disease'], entity='patient_id').
'whose': decode(encode(__kanon_key(${entity})))
