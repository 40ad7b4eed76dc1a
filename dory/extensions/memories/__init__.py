"""Long-term memories, and self-care, which sums them up."""
