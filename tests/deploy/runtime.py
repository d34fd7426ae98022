"""What Lambda's runtime does with a function: imports the handler that `_HANDLER` names, and calls
it with one event after the other. Run as a program, with events and answers as lines of JSON on
stdin and stdout."""

import importlib
import json
import os
import sys


def main() -> None:
    module, _, name = os.environ["_HANDLER"].rpartition(".")
    handler = getattr(importlib.import_module(module), name)
    print("ready", flush=True)
    while line := sys.stdin.readline():
        print(json.dumps(handler(json.loads(line), None)), flush=True)


if __name__ == "__main__":
    main()
