"""A model on this machine: llama.cpp's server, started beside the agent and ended with it.

``--local NAME`` chooses one of the list (``catalog.py``), ``--local model.gguf`` a file. In the
settings such a model is ``base_url: local`` with ``model`` as its name or path: where the server
listens is another place each time, and nothing that is remembered.
"""
