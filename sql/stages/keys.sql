-- Name and type of the entity, and the names of the columns that tell persons apart as it does: a
-- part of anonymize('t', k=5, entity='patient_id').
list_concat(__kanon_describe(${entity}),
            (SELECT list_transform(
                 list_filter(told, lambda known: __kanon_like_entity(known, ${nearly})),
                 lambda known: known.name)
             FROM __kanon_told))
