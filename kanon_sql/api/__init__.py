"""The calls in Python and what they give: frames, a Release, a report, a verification."""
