"""Long-term memories, and the self-care that sums them up."""
