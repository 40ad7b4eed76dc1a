"""Real agents whose model fails at the wire, and what becomes of them.

matrix      the faults, and what each must come to
diligent    a model that answers every message once, served over HTTP
stage       one agent and its endpoint, which suffers faults and recovers
bounds      how many model calls a fault may cost
trial       a fault in the turns: lines said meanwhile, and whether they are answered afterwards
forgetting  a fault in the compactions, and one that lasts until the hard limit
report      what a run came to
"""
