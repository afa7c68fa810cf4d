"""The pictures of `faces`: a portrait painted layer by layer from the traits of a person and a
shot.
"""

from __future__ import annotations

import numpy as np

from mucore.datasets.drawing import (
    Arrays,
    Layer,
    Number,
    ellipse,
    grid,
    inside,
    plane,
    segment,
    to_bytes,
    turn,
    wave,
)

SIZE = 64


def portraits(t: Arrays) -> np.ndarray:
    """Pictures (n, 64, 64, 3) uint8 of traits."""
    n = len(t["age"])
    p = {name: plane(values) for name, values in t.items() if values.ndim == 1}
    wide, high = grid(n, SIZE)
    image = np.empty((n, 3, SIZE, SIZE), np.float32)
    _background(image, wide, high, t, p)

    # Everything of the person is drawn in coordinates that move, turn and scale with the head.
    cos, sin = (plane(part) for part in turn(t["roll"]))
    x, y = (wide - p["move_x"]) / p["zoom"], (high - p["move_y"]) / p["zoom"]
    x, y = cos * x + sin * y, cos * y - sin * x
    layer = Layer(image, x, y, 2.2 / SIZE)
    _hair_behind(layer, t, p)
    _body(layer, t, p)
    bulge = _head(layer, t, p)
    # Features sit on a rounded surface: a turn of the head moves them most in the middle and
    # squeezes the far side.
    front = Layer(image, x - 0.24 * p["yaw"] * bulge, y - 0.13 * p["pitch"] * bulge, layer.edge)
    _wrinkles(front, t, p)
    _nose(front, t, p)
    _beard(front, layer, t, p)
    _mouth(front, t, p)
    _eyes(front, t, p)
    _hair_before(layer, front, t, p)
    _glasses(front, t, p)
    light = 1 + 0.40 * p["light_x"] * wide - 0.22 * p["light_y"] * high
    tint = 1 + plane(t["warmth"])[:, None] * np.array([1, 0, -1], np.float32)[None, :, None, None]
    image *= (light * p["exposure"])[:, None] * tint
    return np.ascontiguousarray(to_bytes(image).transpose(0, 2, 3, 1))


def _background(image: np.ndarray, x: np.ndarray, y: np.ndarray, t: Arrays, p: Arrays) -> None:
    image[:] = t["back"].astype(np.float32)[:, :, None, None]
    layer = Layer(image, x, y, 0.05)
    layer.paint(t["back_2"], np.clip(0.5 + 0.5 * (p["slope_x"] * x + p["slope_y"] * y), 0, 1))
    for blob in range(3):
        u, v = x - p[f"blob_x{blob}"], y - p[f"blob_y{blob}"]
        width, height = p[f"blob_w{blob}"], p[f"blob_h{blob}"]
        box = np.maximum(np.abs(u) - width, np.abs(v) - height)
        round_ = ellipse(u, v, width, height)
        shape = np.where(p[f"blob_box{blob}"] > 0, box, round_)
        layer.paint(t[f"blob_color{blob}"], inside(shape, p[f"blob_soft{blob}"]))


def _hair_behind(layer: Layer, t: Arrays, p: Arrays) -> None:
    x, y = layer.x, layer.y
    bottom = 0.15 + 0.85 * p["length"]
    ripple = p["curl"] * wave(y * p["curls"])
    width = p["head_w"] + p["volume"] + 0.06 * p["length"] * np.clip(y + 0.3, 0, 1) + ripple
    top = ellipse(x, y + 0.06, p["head_w"] + p["volume"], p["head_h"] + p["volume"])
    side = np.maximum(np.abs(x) - width, y - bottom)
    shape = np.where(y < -0.1, top, side)
    cover = inside(shape, 1.5 * layer.edge) * (p["length"] > 0)
    strands = 0.74 + 0.07 * wave(x * 9 + ripple * 12)
    layer.paint((t["hair"].astype(np.float32)[:, :, None, None]) * strands[:, None], cover)


def _body(layer: Layer, t: Arrays, p: Arrays) -> None:
    lower = layer.window(0.05, 1.0)
    x, y = lower.x, lower.y
    chin = p["head_h"]
    neck = np.maximum(np.abs(x) - p["neck_w"], np.maximum(0.1 - y, y - chin - 0.30))
    lower.paint(t["skin"] * 0.86, inside(neck, lower.edge))
    lower.shade(
        0.72,
        inside(ellipse(x, y - chin + 0.02, p["head_w"] * 0.8, 0.14), 0.10)
        * inside(neck, lower.edge),
    )
    shoulders = ellipse(x, y - chin - 0.62, 0.62 + 0.7 * p["neck_w"], 0.48)
    collar = ellipse(x, y - chin - 0.10, p["neck_w"] * 0.95, 0.13)
    cover = inside(np.maximum(shoulders, -collar), lower.edge)
    lower.paint(t["cloth"], cover)
    lower.shade(0.92 + 0.08 * wave(x * 2.5 + y), cover)


def _head(layer: Layer, t: Arrays, p: Arrays) -> np.ndarray:
    """Ears and head. Returns how far the surface bulges towards the viewer, 0 at the head's edge ..
    1 in its middle.
    """
    x, y = layer.x, layer.y
    for side in (-1, 1):
        u = x - side * (p["head_w"] + 0.012) + 0.05 * p["yaw"] * 1
        ear = ellipse(u, y - p["eye_y"] - 0.06, p["ear"] * 0.62, p["ear"] * 1.25)
        layer.paint(t["skin"] * 0.93, inside(ear, layer.edge))
        layer.shade(0.75, inside(ear + 0.03, 1.5 * layer.edge))
    f = _skull(x, y, p)
    cover = inside((f - 1) * 0.5 * p["head_w"], layer.edge)
    layer.paint(t["skin"], cover)
    bulge = np.sqrt(np.maximum(0, 1 - f))
    turned = (x / p["head_w"]) * (0.9 * p["light_x"] - 0.25 * p["yaw"])
    layer.shade(0.80 + 0.22 * bulge + 0.16 * turned, cover)
    return bulge


def _skull(x: np.ndarray, y: np.ndarray, p: Arrays) -> np.ndarray:
    """Below 1 inside the head: an ellipse that narrows towards the chin, between round and square,
    with heavier jowls in old age.
    """
    v = y / p["head_h"]
    low = np.clip(v, 0, 1)
    u = x / (p["head_w"] * (1 - p["taper"] * low * low + 0.10 * p["jowls"] * low))
    uu, vv = u * u, v * v
    return (
        uu
        + vv
        - p["square"] * np.minimum(uu, 1) * np.minimum(vv, 1) * np.where(y > 0, 1, np.float32(0.6))
    )


def _stroke(
    layer: Layer, x: np.ndarray, y: np.ndarray, half: Number, bend: Number, width: Number
) -> np.ndarray:
    """Cover of a bow along x around the origin, pointed at both ends; positive `bend` lowers the
    ends (y is down).
    """
    u = np.clip(x / half, -1, 1)
    taper = 1 - u * u
    distance = np.maximum(np.abs(y - bend * u * u) - width * taper, np.abs(x) - half)
    return inside(distance, layer.edge)


def _wrinkles(front: Layer, t: Arrays, p: Arrays) -> None:
    dark = 0.55
    area = front.window(-0.75, 0.1, -0.6, 0.6)
    for number in range(3):
        level = p["eye_y"] - p["brow_gap"] - 0.075 - 0.065 * number
        line = _stroke(area, area.x, area.y - level, 0.25 - 0.03 * number, 0.02, 0.014)
        area.shade(dark, line * p["forehead"])
    area = front.window(-0.4, 0.8, -0.8, 0.8)
    x, y = area.x, area.y
    for side in (-1, 1):
        u = side * x
        bag = _stroke(
            area, u - p["eye_x"], y - p["eye_y"] - p["eye_ry"] - 0.040, p["eye_rx"], -0.03, 0.016
        )
        area.shade(dark, bag * p["bags"])
        for slope in (-0.035, 0.0, 0.035):
            corner = p["eye_x"] + p["eye_rx"] + 0.015
            foot = segment(u, y - p["eye_y"], corner, slope * 0.5, corner + 0.085, slope * 2)
            area.shade(dark, inside(foot - 0.006, area.edge) * p["crow"])
        start = p["nose_w"] + 0.035
        smile = np.clip(p["smile"], 0, 1)
        fold = segment(
            u,
            y,
            start,
            p["nose_y"] - 0.02,
            p["mouth_w"] + 0.055 + 0.02 * smile,
            p["mouth_y"] - 0.01,
        )
        area.shade(
            dark, inside(fold - 0.009, area.edge) * np.clip(p["folds"] + 0.22 * smile, 0, 0.8)
        )
        jowl = segment(
            u,
            y,
            p["mouth_w"] + 0.045,
            p["mouth_y"] + 0.04,
            p["mouth_w"] + 0.06,
            p["mouth_y"] + 0.15,
        )
        area.shade(0.7, inside(jowl - 0.007, area.edge) * p["jowls"])
        cheek = ellipse(u - 0.25, y - p["nose_y"] - 0.015 + 0.03 * smile, 0.12, 0.085)
        area.paint(t["skin"] * np.array([1.0, 0.72, 0.70]), inside(cheek, 0.16) * p["blush"])
    for spot in range(3):
        brown = ellipse(front.x - p[f"spot_x{spot}"], front.y - p[f"spot_y{spot}"], 0.035, 0.028)
        front.shade(0.66, inside(brown, front.edge) * p["spots"])
    area.paint(
        t["skin"] * 0.35,
        inside(ellipse(x - p["mole_x"], y - p["mole_y"], 0.018, 0.018), area.edge) * p["mole"],
    )


def _nose(front: Layer, t: Arrays, p: Arrays) -> None:
    area = front.window(-0.4, 0.6, -0.5, 0.5)
    x, y = area.x, area.y
    # the shadow falls on the other side
    lit = np.where(p["light_x"] + 0.6 * p["yaw"] >= 0, 1, -1).astype(np.float32)
    ridge = segment(
        x, y, -lit * 0.022, p["eye_y"] + 0.01, -lit * p["nose_w"] * 0.62, p["nose_y"] - 0.03
    )
    area.shade(0.80, inside(ridge - 0.014, 0.05))
    tip = ellipse(x, y - p["nose_y"] + 0.025, p["nose_w"] * 0.8, 0.045)
    area.paint(np.minimum(t["skin"] * 1.10, 1), inside(tip, 0.07) * 0.55)
    under = _stroke(area, x, y - p["nose_y"] - 0.022, p["nose_w"] * 1.15, -0.026, 0.013)
    area.shade(0.62, under)
    for side in (-1, 1):
        hole = ellipse(x - side * p["nose_w"] * 0.5, y - p["nose_y"] - 0.008, 0.020, 0.012)
        area.shade(0.45, inside(hole, area.edge) * 0.8)


def _mouth(front: Layer, t: Arrays, p: Arrays) -> None:
    area = front.window(-0.15, 0.85, -0.6, 0.6)
    smile = p["smile"]
    half = p["mouth_w"] * (1 + 0.22 * np.clip(smile, -0.3, 1))
    x, y = area.x, area.y - p["mouth_y"]
    bend = -0.085 * smile  # the corners go up
    rest = bend * np.clip(x / half, -1, 1) ** 2
    u = np.clip(1 - (x / half) ** 2, 0, 1)
    open_ = 0.045 * p["teeth"] + 0.050 * p["gape"]
    upper, lower = p["lip"] * 0.75, p["lip"] * 1.05
    line = y - rest + 0.35 * bend  # the middle stays about where it was
    edge = area.edge
    ends = np.abs(x) - half
    lips = np.maximum(
        np.maximum(-line - (upper + 0.3 * open_) * u, line - (lower + open_) * u), ends
    )
    area.paint(t["lips"], inside(lips, edge))
    hollow = np.maximum(
        np.maximum(-line - (0.3 * open_ + 0.006) * u, line - (open_ + 0.006) * u), ends
    )
    area.paint(t["lips"] * 0.30, inside(hollow, edge))
    teeth = np.maximum(
        np.maximum(-line - 0.3 * open_ * u, line - 0.72 * open_ * u), np.abs(x) - half * 0.86
    )
    area.paint(np.full((len(x), 3), 0.93), inside(teeth, edge) * np.clip(2.5 * p["teeth"], 0, 1))
    area.shade(0.80, inside(ellipse(x, line - lower - open_ - 0.035, half * 0.5, 0.014), 0.05))


def _eyes(front: Layer, t: Arrays, p: Arrays) -> None:
    area = front.window(-0.55, 0.45, -0.75, 0.75)
    edge = area.edge
    white, black = np.full((len(area.x), 3), 0.92), np.full((len(area.x), 3), 0.05)
    rx, ry = p["eye_rx"], p["eye_ry"] * (1 - p["lids"])
    for side in (-1, 1):
        x = side * area.x - p["eye_x"]
        y = area.y - p["eye_y"] + p["eye_tilt"] * x
        u = np.clip(x / rx, -1, 1)
        lens = 1 - u * u
        socket = ellipse(x, y + 0.02, rx * 1.25, p["eye_ry"] * 1.9)
        area.shade(0.88, inside(socket, 0.06))
        almond = np.maximum(np.maximum(-y - ry * lens, y - 0.85 * ry * lens), np.abs(x) - rx)
        open_ = inside(almond, edge)
        area.paint(white, open_)
        gaze_x, gaze_y = side * p["gaze_x"] * 0.04, p["gaze_y"] * 0.012
        disc = ellipse(x - gaze_x, y - gaze_y, p["eye_ry"] * 0.92, p["eye_ry"] * 0.92)
        area.paint(t["iris"], inside(disc, edge) * open_)
        area.paint(black, inside(disc + p["eye_ry"] * 0.48, edge) * open_)
        shine = ellipse(x - gaze_x - side * 0.014, y - gaze_y + 0.016, 0.012, 0.012)
        area.paint(white, inside(shine, edge) * open_ * 0.8)
        lash = np.maximum(np.abs(y + ry * lens) - 0.010, np.abs(x) - rx * 1.05)
        area.paint(t["skin"] * 0.22, inside(lash, edge) * 0.9)
        brow_x, brow_y = x - 0.005, y + p["brow_gap"] + p["raise"] + p["brow_tilt"] * x * 0.6
        brow = _stroke(area, brow_x, brow_y, rx * 1.22, 0.022, p["brow"] * 1.25)
        area.paint(t["hair"] * 0.75 + t["skin"] * 0.08, brow * 0.9)


def _beard(front: Layer, layer: Layer, t: Arrays, p: Arrays) -> None:
    area, whole = front.window(-0.2, 1.0, -0.8, 0.8), layer.window(-0.2, 1.0, -0.8, 0.8)
    x, y = area.x, area.y
    head = (_skull(whole.x, whole.y, p) - 1) * 0.5 * p["head_w"]
    cheek = p["mouth_y"] - 0.02 - 0.95 * x * x * 2  # rises to the ears
    clear = ellipse(x, y - p["mouth_y"], p["mouth_w"] * 1.05, 0.062)
    shape = np.maximum(np.maximum(head - 0.02, cheek - y), -clear)
    cover = inside(shape, 0.06)
    area.paint(t["hair"] * 0.85, cover * np.maximum(p["beard"], p["stubble"]))
    lip = _stroke(area, x, y - p["mouth_y"] + p["lip"] + 0.035, p["mouth_w"] * 1.1, 0.035, 0.030)
    area.paint(t["hair"] * 0.85, lip * p["moustache"])


def _hair_before(layer: Layer, front: Layer, t: Arrays, p: Arrays) -> None:
    area, face = layer.window(-1.0, 0.5), front.window(-1.0, 0.5)
    x, y = area.x, area.y
    ripple = p["curl"] * wave((x - 0.6 * y) * p["curls"])
    outline = ellipse(
        x, y + 0.04, p["head_w"] + p["volume"] + ripple, p["head_h"] + p["volume"] + ripple
    )
    u = np.clip(face.x / p["head_w"], -1.4, 1.4)
    uu = u * u
    line = (
        p["head_h"] * (p["hairline"] + 0.25 * uu + p["temple"] * uu * uu * uu)
        + p["parting"] * u * 0.6
        + ripple
    )
    ear = p["eye_y"] + 0.10 + 0.5 * p["length"]
    shape = np.maximum(np.maximum(outline, y - line), y - ear)
    crown = inside(np.maximum(y + 0.5 * p["head_h"] - 0.10, np.abs(x) - 0.9 * p["head_w"]), 0.25)
    cover = inside(shape, 1.3 * area.edge) * (1 - p["bald"] * crown)
    strands = 0.95 + 0.06 * wave(face.x * (7 + p["curls"]) + 1.5 * face.y + ripple * 9)
    shine = 1 + 0.25 * np.clip(0.5 - 3 * np.abs(y + 0.75 * p["head_h"] + 0.2 * uu), 0, 1)
    area.paint(t["hair"].astype(np.float32)[:, :, None, None] * (strands * shine)[:, None], cover)


def _glasses(front: Layer, t: Arrays, p: Arrays) -> None:
    area = front.window(-0.5, 0.5, -0.8, 0.8)
    x, y = area.x, area.y - p["eye_y"] - 0.01
    u = np.abs(x) - p["eye_x"]
    rim = np.abs(ellipse(u, y, p["lens"], p["lens"] * 0.85)) - 0.010
    bridge = np.maximum(np.abs(y + 0.02) - 0.010, np.abs(x) - p["eye_x"] + p["lens"])
    temple = np.maximum(
        np.abs(y + 0.03) - 0.010, np.maximum(p["lens"] - u, np.abs(x) - p["head_w"] * 0.97)
    )
    area.paint(
        t["frame"], inside(np.minimum(np.minimum(rim, bridge), temple), area.edge) * p["glasses"]
    )
