"""What a file of weights has to look like before it is read, hashed or copied."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from mucore.errors import BadFile
from mucore.store import open_store
from mucore.userfiles import weights


def safetensors(path: Path) -> Path:
    save_file({"w": np.zeros((2, 3), np.float32)}, path, metadata={"by": "a test"})
    return path


def zipped(path: Path) -> Path:
    torch.save({"w": torch.zeros(2)}, path)
    return path


def old(path: Path) -> Path:
    torch.save({"w": torch.zeros(2)}, path, _use_new_zipfile_serialization=False)
    return path


@pytest.mark.parametrize("make", [safetensors, zipped, old])
def test_each_kind_of_weights_is_hashed_and_kept_whatever_its_name(make, tmp_path):
    path = make(tmp_path / "mine.weights")
    sha256 = weights.file_hash(str(path), what="A run")
    with open_store(tmp_path / "home") as store:
        weights.keep(store.artifacts, [str(path)])
        assert store.artifacts.content(f"{sha256[:32]}.given") == path.read_bytes()


def test_a_header_whose_length_reads_as_an_archives_first_letters_is_one(tmp_path):
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})
    length = int.from_bytes(b"PK\0\0\0\0\0\0", "little")
    path = tmp_path / "x.safetensors"
    path.write_bytes(length.to_bytes(8, "little") + header.ljust(length).encode() + bytes(4))
    assert len(weights.file_hash(str(path), what="A run")) == 64


SECRET = b"root:x:0:0:root:/root:/bin/bash\n"


@pytest.mark.parametrize(
    "content",
    [
        SECRET,
        b"",
        b"{",
        b"PK\x03\x04 no archive",
        (1 << 40).to_bytes(8, "little") + b"{}",  # a header longer than the file
        (2).to_bytes(8, "little") + b"[]",
        (8).to_bytes(8, "little") + b"[" * 8,
        b"\x80\x04\x95 some other pickle",
    ],
)
def test_a_file_of_another_kind_is_neither_hashed_nor_copied(content, tmp_path, monkeypatch):
    path = tmp_path / "original.safetensors"
    path.write_bytes(content)
    monkeypatch.setattr(weights, "_hash", lambda *arguments: pytest.fail("it was read whole"))
    with pytest.raises(BadFile, match="it is none"):
        weights.file_hash(str(path), what="A run")
    with open_store(tmp_path / "home") as store:
        good = safetensors(tmp_path / "good.safetensors")
        monkeypatch.undo()
        with pytest.raises(BadFile, match="it is none"):
            weights.keep(store.artifacts, [str(good), str(path)])
        assert list(store.artifacts.storage.files()) == []  # not the good one either


def test_a_file_too_large_is_not_opened(tmp_path):
    path = safetensors(tmp_path / "large.safetensors")
    os.truncate(path, weights.MOST_BYTES + 1)  # sparse: it takes no space
    with pytest.raises(BadFile, match="at most 4 GiB"):
        weights.file_hash(str(path), what="A run")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_what_is_no_file_is_never_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, "/dev/zero"):
        with pytest.raises(BadFile, match="it is none"):
            weights.file_hash(str(path), what="A run")
