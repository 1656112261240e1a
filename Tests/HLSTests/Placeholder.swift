// Replaced by this suite's first file.
