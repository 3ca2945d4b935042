"""The report of a release: what it tells, as typed objects, and the page that shows it."""
