"""Summaries of the whole life at three scales, and past experiences that resemble the present."""
