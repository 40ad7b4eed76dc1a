"""``python -m dory.offline``: the offline model as an OpenAI-compatible endpoint on this machine,
until Ctrl-C.
"""

from dory.process import requirements

if __name__ == "__main__":
    requirements.check()

import contextlib
import sys
import threading

import click

from dory.config.options import program
from dory.offline import OfflineModel
from dory.offline.server import Server
from dory.text import typed_commands


@program("python -m dory.offline", "Serve the offline model in the OpenAI formats.")
@click.option(
    "--port",
    type=int,
    metavar="PORT",
    default=8399,
    help="port on 127.0.0.1; 0: any free one (default: 8399)",
)
@click.option(
    "--latency",
    type=float,
    default=0.0,
    metavar="SECONDS",
    help="pause before each answer (default: none)",
)
def main(port: int, latency: float) -> int:
    """Serve. The exit code is 0 after Ctrl-C and 2 when the port cannot be had."""
    try:
        server = Server(OfflineModel(), port, latency)
    except (OSError, OverflowError) as error:
        message = f"port {port} cannot be had ({error}): give another one with --port"
        print(message, file=sys.stderr)
        return 2
    with contextlib.suppress(KeyboardInterrupt), server:
        use = f"{typed_commands.program('agent.py')} --base-url {server.base_url} --model any-name"
        print(f"The offline model serves at {server.base_url}; use it with: {use}", flush=True)
        threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
