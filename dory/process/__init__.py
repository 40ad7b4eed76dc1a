"""This process: signals, background jobs, and the supervisor that restarts the agent after disk
trouble.
"""
