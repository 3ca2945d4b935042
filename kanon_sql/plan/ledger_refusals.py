"""What is refused of a ledger, and of a release that goes on from one."""

from __future__ import annotations

REFUSED: tuple[tuple[str, str, str], ...] = (
    (
        "doubled > 0", "DataError",
        "The entity {entity} has several rows for one person, and a ledger needs one for each. "
        "Aggregate them first.",
    ),
    (
        "releases = 0", "DataError",
        "The ledger {ledger} is empty. Fill it by anonymize_ledger with the options of the first "
        "release.",
    ),
    (
        "incomplete > 0", "DataError",
        "The ledger {ledger} has rows with a NULL, or with options or a number that can't be read. "
        "Give it as anonymize_ledger made it.",
    ),
    (
        "stored_type <> type", "DataError",
        "The ledger {ledger} knows persons by another type than that of {entity}. Cast the column "
        "to the type that it had.",
    ),
    (
        "doubled_there > 0", "DataError",
        "The ledger {ledger} has a person twice in one release. Insert each release once.",
    ),
    (
        "gaps", "DataError",
        "The releases of the ledger {ledger} are not numbered 1, 2, and so on. Give it as "
        "anonymize_ledger made it.",
    ),
    (
        "mixed", "DataError",
        "The ledger {ledger} has a release with two sets of options. Insert each release once.",
    ),
    (
        "unfrozen", "DataError",
        "The ledger {ledger} has a class that published two things. Give it as anonymize_ledger "
        "made it.",
    ),
    (
        "coalesce(stored_attacker, '') <> {attacker}", "OptionError",
        "The ledger {ledger} is kept against another attacker than {attacker_told}. Give the "
        "attacker of its first release.",
    ),
    (
        "coalesce(most, 0) > {k}", "OptionError",
        "The ledger {ledger} was made with a larger k than {k}. Give at least that k.",
    ),
    (
        "len(gone) > 0", "OptionError",
        "The ledger {ledger} has quasi-identifiers that are none in this call, so that its "
        "classes would be divided. Name those of its first release.",
    ),
    (
        "len(fresh) > 0", "OptionError",
        "This call has quasi-identifiers that the ledger {ledger} lacks, so that its classes can't "
        "be continued. Name those of its first release.",
    ),
    (
        "len(other) > 0", "DataError",
        "A quasi-identifier has another type than in the ledger {ledger}. Cast it to the type that "
        "it had.",
    ),
    (
        "shown", "OptionError",
        "The classes of the ledger {ledger} publish in another form. Give the representation, "
        "hierarchies, categorical and nulls of its first release.",
    ),
    (
        "models", "OptionError",
        "The ledger {ledger} was made with other privacy models. Give those of its first release.",
    ),
    (
        "coalesce(crowd, 0) < coalesce(least, 0)", "DataError",
        "The ledger {ledger} fails its own check: the anonymity set of a person is smaller than "
        "its k. See ledger_check, and don't release from it.",
    ),
)
"""What is refused before anything is grouped: a condition over __kanon_faults, the kind of error,
and what is said."""

LINKED = (
    "The release was stopped: together with those before it, it leaves a person with an anonymity "
    "set of {}, below {} = {}. Nothing was released; please report this as a bug."
)
UNLIKE = (
    "The release was stopped: together with those before it, it leaves a person with an anonymity "
    "set that doesn't keep the privacy models. Nothing was released; please report this as a bug."
)
CHANGED = (
    "The classes of the ledger {} would publish values of other types now. Cast the columns to "
    "the types that they had."
)
