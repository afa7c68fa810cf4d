"""Outputs only: no network, no data, no torch."""

import numpy as np

import mucore.api as mu

rng = np.random.default_rng(0)
for name in ("unlearned", "original", "retrained"):  # yours come from your own loop
    arrays = {}
    for part, count in {"forget": 20, "retain": 180, "test": 100}.items():
        arrays[f"{part}_logits"] = rng.normal(size=(count, 10))
        arrays[f"{part}_labels"] = np.arange(count) % 10
        arrays[f"{part}_features"] = rng.normal(size=(count, 16))  # may be left out
    np.savez(f"{name}.npz", **arrays)
files = {name: f"{name}.npz" for name in ("unlearned", "original", "retrained")}
report = mu.evaluate(**files)
print(report, report.table(), sep="\n")
