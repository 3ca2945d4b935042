-- What tells for Python whether a relation is still what it was: its rows, in any order.
SELECT system.main.count(*), system.main.bit_xor(system.main.hash(__kanon)),
       system.main.sum(system.main.hash(__kanon))
FROM ${relation} AS __kanon
