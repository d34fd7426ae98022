import signal
import subprocess
import sys
from pathlib import Path

import pytest

from server import engine_process
from server.engine_process import EngineFailed


def test_a_child_that_ends_is_reported_with_its_last_words() -> None:
    command = [sys.executable, "-c", "print('the reason'); raise SystemExit(3)"]
    with pytest.raises(EngineFailed, match=r"(?s)code 3.*the reason"):
        engine_process.running("a child", command, cwd=Path(), environment={}).__enter__()


def test_a_child_that_never_listens_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_process, "START_SECONDS", 0.2)
    ended: list[subprocess.Popen[bytes]] = []
    end = engine_process._end

    def observed(process: subprocess.Popen[bytes]) -> None:
        end(process)
        ended.append(process)

    monkeypatch.setattr(engine_process, "_end", observed)
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    with pytest.raises(EngineFailed, match="didn't listen"):
        engine_process.running("a child", command, cwd=Path(), environment={}).__enter__()
    assert [process.poll() for process in ended] == [-signal.SIGTERM]
