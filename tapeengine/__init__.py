"""tapeengine: derivatives of ordinary Python programs."""
