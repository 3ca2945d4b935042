-- Whether more rows are left out than may be: a part of anonymize('t', k=5, suppress=0.01).
any_value(__kanon_out) > floor(${share}::DOUBLE * any_value(__kanon_kept_count))
