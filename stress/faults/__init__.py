"""The endpoint of a real agent fails in every way, and the agent is checked afterwards.

matrix      the faults, and the expected result of each
diligent    a model that answers every message once, served over HTTP
stage       one agent and its endpoint, at which faults begin and end
bounds      how many model calls a fault may cost
trial       a fault during turns: lines said meanwhile, and whether they are answered afterwards
forgetting  a fault during compactions, and one that lasts until the hard limit of the context
report      the figures of a run
"""
