"""Programs that run again for their derivative: checkpoints and iterations, which repeat to the last bit or raise."""
