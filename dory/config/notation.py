"""YAML as people write it. Pure; its library is loaded when there is something to read."""

from typing import Any


def read(text: str) -> Any:
    """What ``text`` holds, every value as it is written: a name may be 'no', a model 4.10, a key 0123. Raises ``ValueError`` with a few words
    that quote nothing, for a line may hold a key.
    """
    import yaml

    class Once(yaml.BaseLoader):
        """Each name but once: of two values the first would be passed over in silence."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            made = super().construct_mapping(node, deep)
            if len(made) < len(node.value):
                raise ValueError(f"a name stands twice in what begins in line {node.start_mark.line + 1}")
            return made

    try:
        return yaml.load(text, Once)
    except yaml.MarkedYAMLError as error:
        raise ValueError(f"line {error.problem_mark.line + 1 if error.problem_mark else 1}") from error
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:  # a character that there is not, a thousand brackets
        raise ValueError(" ".join(str(error).split())) from error
