"""A zip archive of class folders, as a folder that `folder:PATH` reads. Nothing of it is trusted:
not its names, its sizes, its links nor its images. Names of classes are checked before they become
folders, and images are numbered.
"""

from __future__ import annotations

import hashlib
import io
import re
import shutil
import stat
import tempfile
import warnings
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from mucore.errors import BadFile, StoreError, said
from mucore.userfiles import doors
from mucore.userfiles.datasets import IDENTITIES, IMAGE_SUFFIXES, SPLITS

MOST_IMAGES = 200_000
MOST_BYTES = 4 << 30  # of all images together, once unpacked
MOST_IMAGE_BYTES = 50_000_000
MOST_SIDE = 4096  # pixels
LONGEST_NAME = 100  # letters of a class's name
TEST_EVERY = 5  # one in so many images of a class is for testing, where the archive has no test
MOST_NAMED = 5  # broken images in a sentence
_PASSED_OVER = ("__MACOSX",)  # what systems add; so are names that begin with a dot
_FORM = (
    "A zip of images holds train/CLASS/*.png and test/CLASS/*.png (or jpg, bmp, webp, gif), or "
    "CLASS/*.png alone"
)
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # of Windows

Images = Mapping[tuple[str, str], Sequence[zipfile.ZipInfo]]  # by split and class


def unpack(content: bytes, folder: Path) -> Path:
    """The images of an archive as `folder/HASH/SPLIT/CLASS/NUMBER.png`, named by the content, in
    the order of their names; what was unpacked before is taken as it is.

    Where the archive has class folders alone, every fifth image of each class, by its content, is
    for testing. Raises `BadFile` with what is wrong, `StoreError`, `ReadOnly`.
    """
    doors.check()
    place = folder / hashlib.sha256(content).hexdigest()[:32]
    if place.is_dir():
        return place
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            images = _sorted(_named(archive))
            folder.mkdir(parents=True, exist_ok=True)
            made = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=folder))
            try:
                _write(archive, images, made)
                made.chmod(0o755)
                made.rename(place)
            except OSError:
                if not place.is_dir():  # unless somebody has unpacked the same meanwhile
                    raise
            finally:
                shutil.rmtree(made, ignore_errors=True)
    except (BadFile, StoreError):
        raise
    except OSError as error:
        raise StoreError(
            f"The images cannot be unpacked to {folder}: {error.strerror or error}. Free some "
            "space, or choose another home."
        ) from error
    except Exception as error:  # zipfile raises a dozen kinds for archives that were damaged
        raise BadFile(f"{_FORM}, but this file cannot be read ({said(str(error))}).") from error
    return place


def _named(archive: zipfile.ZipFile) -> dict[PurePosixPath, zipfile.ZipInfo]:
    """The images by their path in the archive. Raises `BadFile` for what no archive of images
    holds.
    """
    found: dict[PurePosixPath, zipfile.ZipInfo] = {}
    size = 0
    for entry in archive.infolist():
        name = entry.filename
        path = PurePosixPath(name)
        parts = name.rstrip("/").split("/")
        if any(part in _PASSED_OVER or part.startswith(".") and part.strip(".") for part in parts):
            continue
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise BadFile(
                f"{_FORM}, but {said(name)} is a link or a device. Put in the file itself."
            )
        if any(_is_odd(part) for part in parts):
            raise BadFile(
                f"{said(name)} is no name of a file in a folder of the archive. Rename it to "
                "letters, digits, spaces, hyphens and underscores."
            )
        if entry.is_dir():
            continue
        if path.name == IDENTITIES:
            raise BadFile(
                f"{name} names files, which are renumbered here. Give the folder itself by its "
                "path."
            )
        if path.suffix.lower() not in IMAGE_SUFFIXES:
            continue
        if entry.flag_bits & 1:
            raise BadFile(f"{said(name)} is encrypted. Zip the folder without a password.")
        size += entry.file_size
        if entry.file_size > MOST_IMAGE_BYTES or size > MOST_BYTES or len(found) >= MOST_IMAGES:
            raise BadFile(
                f"An archive may unpack to {MOST_IMAGES:,} images of {MOST_IMAGE_BYTES >> 20} MB "
                f"each and {MOST_BYTES >> 30} GiB together, and this one holds more, at "
                f"{said(name)}. Name the folder by its path instead."
            )
        if path in found:
            raise BadFile(f"The archive holds {said(name)} twice. Zip the folder again.")
        found[path] = entry
    if not found:
        raise BadFile(f"{_FORM}, but this one holds no image.")
    return found


def _is_odd(part: str) -> bool:
    return (
        not part.strip(". ")
        or part != part.strip()
        or len(part) > LONGEST_NAME
        or not part.isprintable()
        or any(each in part for each in '\\:*?"<>|')
        or bool(_RESERVED.fullmatch(part))
        or not _is_text(part)
    )


def _is_text(part: str) -> bool:
    try:
        part.encode()
    except UnicodeEncodeError:
        return False
    return True


def _sorted(found: Mapping[PurePosixPath, zipfile.ZipInfo]) -> Images:
    """The images by split and class. One folder around everything is passed over."""
    paths = {path.parts: entry for path, entry in found.items()}
    while len({parts[0] for parts in paths}) == 1 and all(len(parts) > 2 for parts in paths):
        if next(iter(paths))[0] in SPLITS:
            break
        paths = {parts[1:]: entry for parts, entry in paths.items()}
    split = any(parts[0] in SPLITS for parts in paths)
    images: dict[tuple[str, str], list[zipfile.ZipInfo]] = defaultdict(list)
    for parts, entry in sorted(paths.items()):
        if len(parts) != 3 - (not split) or (split and parts[0] not in SPLITS):
            raise BadFile(
                f"{_FORM}, but {said(entry.filename)} lies elsewhere. Put it into the folder of "
                "its class, or leave it out."
            )
        images[(parts[0], parts[1]) if split else ("train", parts[0])].append(entry)
    return images if split else _with_test(images)


def _with_test(images: Images) -> Images:
    """One in five images of each class moves to testing: those whose content has the smallest
    checksums, so that no name and no order decides.
    """
    divided: dict[tuple[str, str], Sequence[zipfile.ZipInfo]] = {}
    for (_, name), entries in images.items():
        count = len(entries) // TEST_EVERY
        if not count:
            raise BadFile(
                f"The class {said(name)} has {len(entries)} images. {TEST_EVERY} are needed at "
                "least, of which one is for testing; or give train/ and test/ folders."
            )
        by_content = sorted(entries, key=lambda each: (each.CRC, each.filename))
        chosen = {each.filename for each in by_content[:count]}
        divided["test", name] = [each for each in entries if each.filename in chosen]
        divided["train", name] = [each for each in entries if each.filename not in chosen]
    return divided


def _write(archive: zipfile.ZipFile, images: Images, folder: Path) -> None:
    """Write each image under a number. Raises `BadFile` that names broken ones."""
    broken: list[str] = []
    read = 0
    for (split, name), entries in images.items():
        place = folder / split / name
        place.mkdir(parents=True)
        for number, entry in enumerate(entries):
            content = b"".join(_parts(archive, entry))
            read += len(content)
            if read > MOST_BYTES:  # whatever the directory of the archive says
                raise BadFile(f"The archive unpacks to more than {MOST_BYTES >> 30} GiB.")
            if problem := _problem(content):
                broken.append(f"{said(entry.filename)} {problem}.")
            suffix = PurePosixPath(entry.filename).suffix.lower()
            if not broken:
                (place / f"{number:06}{suffix}").write_bytes(content)
    if broken:
        more = len(broken) - MOST_NAMED
        rest = f" {more:,} more are broken, too." if more > 0 else ""
        raise BadFile(
            f"{' '.join(broken[:MOST_NAMED])}{rest} Take them out or replace them, and zip the "
            "folder again."
        )


def _parts(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    size = 0
    with archive.open(entry) as stream:
        while part := stream.read(1 << 20):
            size += len(part)
            if size > MOST_IMAGE_BYTES:
                raise BadFile(f"{said(entry.filename)} unpacks to more than an image takes.")
            yield part


def _problem(content: bytes) -> str:
    """What is wrong with an image, "" where it can be read."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of sizes, which are checked here
            with Image.open(io.BytesIO(content)) as image:
                if max(image.size) > MOST_SIDE:
                    return (
                        f"has {image.width} by {image.height} pixels, and {MOST_SIDE} are allowed"
                    )
                image.load()
    except Exception:  # Pillow raises many kinds for what is no image
        return "is no image that can be read"
    return ""
