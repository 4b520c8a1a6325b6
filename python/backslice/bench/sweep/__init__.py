"""A random sweep: slices that nobody tuned for, beside what a careful user writes with NumPy."""
