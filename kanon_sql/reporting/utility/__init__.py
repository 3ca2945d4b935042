"""What is still true of a release: in words, by a classifier, and by models fitted on both."""
