"""Dream: durable knowledge distilled from what faded, with versions that can be inspected and
restored.
"""
