"""What the command lines of the programs lead to."""
