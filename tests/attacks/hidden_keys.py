"""Hidden keys: a column that is as good as a name.

The attacker doesn't know which rows of the release are one person's. But the second in which a
person was entered passes unchanged into all of them, and is nobody else's: rows with the same are
of one person. So he looks for the people who have rows in all classes where such rows are. The
naive release takes each row for a person.
"""

from __future__ import annotations

from tests.attacks.frame import Attack, Connection
from tests.attacks.persons import attack, released, visits


def run(con: Connection) -> list[Attack]:
    visits(con)
    return [
        Attack("hidden keys", "persons with an anonymity set below k",
               attack(released(con, "identifiers := ['person']"), "enrolled"),
               attack(released(con, "entity := 'person'"), "enrolled"), 0,
               "rows of a person are in one class, whatever joins them: those of k - 1 others are "
               "there, too"),
    ]
