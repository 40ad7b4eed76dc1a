"""``python -m dory.offline``: the offline model as an OpenAI-compatible endpoint on this machine,
until Ctrl-C.
"""

import contextlib
import sys
import threading

from dory.config.command_line import Parser
from dory.offline import OfflineModel
from dory.offline.server import Server


def main() -> int:
    """Serve. The exit code is 0 after Ctrl-C and 2 when the port cannot be had."""
    parser = Parser(
        prog="python -m dory.offline", description="Serve the offline model in the OpenAI formats."
    )
    parser.add_argument(
        "--port",
        type=int,
        default=8399,
        help="port on 127.0.0.1; 0: any free one (default: %(default)s)",
    )
    parser.add_argument(
        "--latency",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="pause before each answer (default: none)",
    )
    options = parser.parse_args()
    try:
        server = Server(OfflineModel(), options.port, options.latency)
    except (OSError, OverflowError) as error:
        print(
            f"port {options.port} cannot be had ({error}): give another one with --port",
            file=sys.stderr,
        )
        return 2
    with contextlib.suppress(KeyboardInterrupt), server:
        print(
            f"The offline model serves at {server.base_url}; use it with: python agent.py --base-url {server.base_url} --model any-name",
            flush=True,
        )
        threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
