"""Let torchvision import beside a CPU-only torch.

The registry's torchvision wheels link CUDA libraries. With a CPU build of torch its extension does
not load, the operators `nms` and `qnms` do not exist, and importing torchvision fails when it
registers shapes for them. A lazy import hook loads the extension first and, only where that fails,
declares the two operators. Nothing imports torch before somebody asks for torchvision.
"""

import importlib.util
import pathlib
import sys


class _Finder:  # importlib's own base class would load half of importlib at every start
    library = None  # keeps the operator definitions alive

    def find_spec(self, fullname, path=None, target=None):
        if fullname != "torchvision":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or not spec.submodule_search_locations:
            return spec
        import torch

        extensions = sorted(pathlib.Path(spec.submodule_search_locations[0]).glob("_C*.so"))
        try:
            for extension in extensions[:1]:
                torch.ops.load_library(str(extension))
        except OSError:  # linked against CUDA, which this torch does not have
            _Finder.library = torch.library.Library("torchvision", "FRAGMENT")
            for operator in ("nms", "qnms"):
                _Finder.library.define(
                    f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
                )
        return spec


def install() -> None:
    """Put the hook in place once; a no-op when torchvision is imported already."""
    if "torchvision" not in sys.modules and not any(
        isinstance(finder, _Finder) for finder in sys.meta_path
    ):
        sys.meta_path.insert(0, _Finder())
