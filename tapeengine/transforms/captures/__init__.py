"""What a callable captures: found, copied, rebound to other values; and what a run wrote into it."""
