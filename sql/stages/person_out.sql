-- Whether more persons are left out than may be: a part of
-- anonymize('t', k=5, entity='patient_id', suppress=0.01).
(SELECT left_out > floor(${share}::DOUBLE * everybody) FROM __kanon_persons)
