"""Neural link: two agents of one home share their memories."""
