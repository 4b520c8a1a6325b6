"""The benchmark: backslice and every peer that is installed, side by side in one run."""
