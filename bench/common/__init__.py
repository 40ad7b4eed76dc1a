"""What several measurements share: data sets, an agent in a home of its own, tables, the command
line.
"""
