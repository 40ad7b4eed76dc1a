"""The diary, one file a day, with mood and place."""
