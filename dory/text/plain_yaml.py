"""YAML whose values are texts, and mappings and lists of them.

An alias may stand for a text only. Lists of aliases of lists of aliases are read at once, but hold
more than any memory as soon as somebody walks through them.
"""

import yaml


class PlainLoader(yaml.BaseLoader):
    """Raises ``ValueError`` for an alias of anything but a text."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """The next node, as PyYAML has it."""
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            if isinstance(self.anchors.get(event.anchor), yaml.CollectionNode):
                line = event.start_mark.line + 1
                raise ValueError(f"line {line}: an alias may stand for a text only, write it out")
        return super().compose_node(parent, index)
