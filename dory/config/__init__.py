"""Settings: where they come from, profiles of models, prices, secrets, flags."""
