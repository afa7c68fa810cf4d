"""An S3 server of our own, on loopback."""

from __future__ import annotations

import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def running_s3(folder: Path) -> Generator[dict[str, str]]:
    """A server with an empty bucket, s3://bucket, and the variables by which a process finds it,
    which are set here meanwhile. Skips the test where there is none to be had.
    """
    server_module = pytest.importorskip("moto.server")
    s3fs = pytest.importorskip("s3fs")
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    environment = {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": address,
        "AWS_CONFIG_FILE": str(folder / "config"),
    }
    try:
        # servers of one process share what they hold
        urllib.request.urlopen(f"{address}/moto-api/reset", data=b"", timeout=60).close()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            s3fs.S3FileSystem().mkdir("bucket")
            yield environment
            s3fs.S3FileSystem.clear_instance_cache()
    finally:
        server.stop()
