"""A random sweep: untuned slices, beside the statements that a careful user writes with NumPy."""
