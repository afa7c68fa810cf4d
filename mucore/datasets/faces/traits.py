"""Who the invented people of `faces` are and how a picture shows them, drawn from the number of the
person and of the picture: bones, colours, hair, signs of age, expression, light.
"""

from __future__ import annotations

import numpy as np

from mucore.datasets.drawing import Arrays, Draws

GROUPS = 8  # of age
YOUNG_GROUPS = 4  # the first four, up to 30 years

# How far the image tells the truth; chosen so that a small ResNet finds these tasks neither trivial
# nor hopeless.
LOOKS_SPREAD = 0.16  # deviation of the age a person looks from the age they have, in age groups
CUE_SPREAD = 0.18  # further deviation of each single sign of age
MALE_SPREAD = 0.55  # deviation of each sign of sex, which lie at -1 and 1
# bend of the mouth; a deviation of 0.11 makes the two overlap
WEAKEST_SMILE, STRONGEST_NONE = 0.22, 0.16

SKIN = np.array(
    [
        [0.96, 0.82, 0.73],
        [0.91, 0.74, 0.62],
        [0.84, 0.65, 0.50],
        [0.70, 0.50, 0.37],
        [0.53, 0.36, 0.26],
        [0.40, 0.27, 0.20],
    ]
)
HAIR = np.array(
    [
        [0.08, 0.07, 0.07],
        [0.16, 0.11, 0.08],
        [0.28, 0.18, 0.11],
        [0.42, 0.28, 0.16],
        [0.66, 0.50, 0.30],
        [0.48, 0.22, 0.10],
    ]
)
IRIS = np.array(
    [
        [0.20, 0.12, 0.07],
        [0.30, 0.19, 0.10],
        [0.25, 0.35, 0.45],
        [0.30, 0.38, 0.26],
        [0.38, 0.28, 0.16],
    ]
)


def traits_of(people: np.ndarray, images: int) -> Arrays:
    """Everything that a picture shows, one row a picture: (n,) each, colours (n, 3)."""
    names = [f"faces/{person}" for person in people]
    who = Draws(names, 256, repeat=images)
    shot = Draws([f"{name}/{number}" for name in names for number in range(images)], 192)
    number = np.repeat(people, images)
    t: Arrays = {"age": number % GROUPS, "male": (number // GROUPS) % 2}
    t["young"] = (t["age"] < YOUNG_GROUPS).astype(np.int64)
    t["smiling"] = shot.chance(0.5)

    looks = t["age"] + who.uniform() + who.normal(0, LOOKS_SPREAD) + shot.normal(0, 0.12)

    def grown() -> np.ndarray:  # 0 newborn .. 1 adult
        return np.clip((looks + who.normal(0, CUE_SPREAD)) / 3.2, 0, 1)

    def aged() -> np.ndarray:  # 0 up to about 25 years .. 1 very old
        return np.clip((looks + who.normal(0, CUE_SPREAD) - 3.0) / 5.0, 0, 1.1)

    sexed = np.clip((looks - 0.5) / 2.5, 0.35, 1)  # children show it less

    def virile() -> np.ndarray:  # about -1 .. 1
        return (2 * t["male"] - 1) * sexed + who.normal(0, MALE_SPREAD)

    # bones
    size, sex = grown(), virile()
    t["head_w"] = 0.445 + 0.025 * (1 - size) + who.normal(0, 0.018) + 0.008 * sex
    t["head_h"] = 0.49 + 0.11 * size + who.normal(0, 0.018) + 0.006 * sex
    t["taper"] = np.clip(0.12 + 0.12 * size - 0.06 * virile() + who.normal(0, 0.04), 0.02, 0.36)
    t["square"] = np.clip(0.25 + 0.18 * virile() * size + who.normal(0, 0.08), 0, 0.7)
    t["eye_y"] = 0.10 - 0.15 * grown() + who.normal(0, 0.012)
    t["eye_x"] = 0.195 + who.normal(0, 0.013)
    t["eye_rx"] = 0.112 - 0.021 * size + who.normal(0, 0.006)
    t["eye_ry"] = 0.069 - 0.021 * grown() - 0.008 * aged() - 0.004 * sex + who.normal(0, 0.005)
    t["eye_tilt"] = who.normal(0, 0.12)
    t["nose_y"] = t["eye_y"] + 0.10 + 0.09 * grown() + 0.025 * aged() + who.normal(0, 0.014)
    t["nose_w"] = 0.058 + 0.016 * size + 0.006 * virile() + who.normal(0, 0.009)
    t["mouth_y"] = t["nose_y"] + 0.115 + 0.03 * size + who.normal(0, 0.012)
    t["mouth_w"] = 0.12 + 0.04 * size + who.normal(0, 0.014)
    t["lip"] = np.clip(
        0.036 - 0.007 * virile() - 0.014 * aged() + who.normal(0, 0.005), 0.012, 0.06
    )
    t["brow_gap"] = 0.115 - 0.012 * virile() + who.normal(0, 0.010)
    t["brow"] = np.clip(0.013 + 0.007 * size + 0.009 * virile() + who.normal(0, 0.003), 0.006, 0.04)
    t["brow_tilt"] = who.normal(0, 0.16)
    t["ear"] = 0.075 + 0.02 * aged() + who.normal(0, 0.008)
    t["neck_w"] = 0.17 + 0.05 * size + 0.03 * virile() * size + who.normal(0, 0.012)

    # colours
    tone = who.uniform(0, len(SKIN) - 1.001)
    at, part = tone.astype(np.int64), (tone % 1)[:, None]
    t["skin"] = SKIN[at] * (1 - part) + SKIN[at + 1] * part + who.normal(0, 0.012)[:, None]
    dark = np.clip(tone / 3.0, 0, 1)  # dark skin goes with dark hair more often
    shade = (who.uniform() * (1 - 0.8 * dark) * len(HAIR)).astype(np.int64)
    grey = np.clip(2.1 * aged() - 0.75 + who.normal(0, 0.16), 0, 1)[:, None]
    silver = (0.62 + 0.22 * who.uniform())[:, None] * np.array([[1.0, 0.99, 0.97]])
    t["hair"] = (
        np.clip(HAIR[shade] * who.uniform(0.8, 1.25)[:, None], 0, 1) * (1 - grey) + silver * grey
    )
    t["iris"] = IRIS[(who.uniform() * (1 - 0.7 * dark) * len(IRIS)).astype(np.int64)]
    red = np.clip(0.35 - 0.22 * virile() * size - 0.25 * aged() + who.normal(0, 0.12), 0.05, 0.9)[
        :, None
    ]
    t["lips"] = t["skin"] * (1 - 0.55 * red) * np.array(
        [[0.95, 0.78, 0.76]]
    ) + 0.55 * red * np.array([[0.72, 0.20, 0.24]])
    t["cloth"] = (
        0.5 * np.stack([who.uniform(0.1, 0.8) for _ in range(3)], 1)
        + 0.5 * shot.uniform(0.1, 0.8)[:, None]
    )

    # hair
    long = np.clip(0.5 - 0.55 * virile(), 0, 1) * np.clip(looks / 1.2, 0.1, 1) * (1 - 0.35 * aged())
    t["length"] = np.where(who.uniform() < long, who.uniform(0.35, 1.0), 0.0)
    t["volume"] = (
        0.035
        + 0.06 * who.uniform() * (1 - 0.4 * aged())
        + 0.02 * t["length"]
        - 0.02 * (1 - np.clip(looks / 1.0, 0, 1))
    )
    recede = np.clip(1.5 * aged() * np.clip(virile(), 0, 1) - 0.25 + who.normal(0, 0.15), 0, 1)
    # babies too
    t["bald"] = np.clip(
        np.maximum(recede * 1.4 - 0.5, 0.55 - 1.3 * looks + who.normal(0, 0.2)), 0, 1
    )
    fringe = who.chance(0.28)
    t["hairline"] = -0.60 - 0.18 * recede + 0.24 * fringe * (1 - recede) + who.normal(0, 0.03)
    t["parting"] = who.normal(0, 0.10)
    t["temple"] = who.uniform(0.25, 0.75)
    t["curl"] = who.chance(0.3) * who.uniform(0.01, 0.035)
    t["curls"] = who.uniform(4, 8)
    manly = np.clip(virile(), 0, 1) * np.clip((looks - 2.6) * 1.5, 0, 1)
    t["beard"] = who.chance(0.42 * manly) * who.uniform(0.45, 0.95)
    t["stubble"] = np.clip(manly * who.uniform(-0.15, 0.30), 0, 1)
    t["moustache"] = np.maximum(t["beard"] * who.chance(0.8), who.chance(0.12 * manly) * 0.85)

    # signs of age
    for name, strength in (
        ("forehead", 0.42),
        ("crow", 0.48),
        ("folds", 0.55),
        ("bags", 0.40),
        ("jowls", 0.50),
    ):
        t[name] = np.clip(strength * (1.25 * aged() - 0.08) * who.uniform(0.6, 1.4), 0, 0.75)
    t["blush"] = np.clip(
        0.30 * (1 - grown()) + 0.10 - 0.05 * virile() + who.normal(0, 0.05), 0, 0.5
    )
    t["spots"] = np.clip(1.2 * aged() - 0.55, 0, 0.4)
    for spot in range(3):
        t[f"spot_x{spot}"], t[f"spot_y{spot}"] = who.uniform(-0.33, 0.33), who.uniform(-0.42, -0.22)
    t["mole"] = who.chance(0.22) * 0.8
    t["mole_x"], t["mole_y"] = who.uniform(-0.3, 0.3), who.uniform(0.08, 0.40)
    t["glasses"] = (
        who.chance(np.clip(0.06 + 0.32 * aged(), 0, 1))
        * np.where(looks < 1, 0, 1)
        * shot.chance(0.9)
    )
    t["frame"] = who.pick(
        [[0.10, 0.10, 0.12], [0.35, 0.22, 0.12], [0.55, 0.52, 0.48], [0.45, 0.10, 0.12]]
    )
    t["lens"] = who.uniform(0.12, 0.15)

    # the picture
    smile = np.where(
        t["smiling"] > 0, shot.uniform(WEAKEST_SMILE, 1.0), shot.uniform(-0.40, STRONGEST_NONE)
    ) + shot.normal(0, 0.09)
    t["smile"] = smile + who.normal(0, 0.06)
    t["teeth"] = np.clip((smile - 0.35) * 2.2 * shot.uniform(0, 1.3), 0, 1)
    # an open mouth is no smile
    t["gape"] = np.where(t["smiling"] > 0, 0.0, shot.chance(0.18) * shot.uniform(0.3, 1.0))
    t["yaw"] = shot.normal(0, 0.30)
    t["pitch"] = shot.normal(0, 0.25)
    t["roll"] = shot.normal(0, 0.075)
    t["zoom"] = shot.uniform(0.92, 1.14) * (0.96 + 0.04 * size)
    t["move_x"], t["move_y"] = shot.normal(0, 0.045), 0.02 + shot.normal(0, 0.035)
    t["gaze_x"], t["gaze_y"] = shot.normal(0, 0.35), shot.normal(0, 0.2)
    t["lids"] = np.clip(shot.normal(0, 0.12) + 0.18 * t["smiling"], -0.15, 0.6)
    t["raise"] = shot.normal(0, 0.012)
    t["light_x"], t["light_y"] = shot.normal(0, 0.30), shot.normal(0.10, 0.15)
    t["exposure"] = shot.uniform(0.78, 1.18)
    t["warmth"] = shot.normal(0, 0.045)
    t["back"] = shot.uniform(0.15, 0.85)[:, None] + np.stack(
        [shot.normal(0, 0.09) for _ in range(3)], 1
    )
    t["back_2"] = (
        t["back"]
        + shot.normal(0, 0.15)[:, None]
        + np.stack([shot.normal(0, 0.04) for _ in range(3)], 1)
    )
    t["slope_x"], t["slope_y"] = shot.uniform(-1, 1), shot.uniform(-1, 1)
    for blob in range(3):
        t[f"blob_x{blob}"], t[f"blob_y{blob}"] = shot.uniform(-1.1, 1.1), shot.uniform(-1.1, 0.7)
        t[f"blob_w{blob}"], t[f"blob_h{blob}"] = shot.uniform(0.1, 0.6), shot.uniform(0.1, 0.9)
        t[f"blob_soft{blob}"], t[f"blob_box{blob}"] = shot.uniform(0.05, 0.4), shot.chance(0.5)
        t[f"blob_color{blob}"] = (
            t["back"]
            + shot.normal(0, 0.15)[:, None]
            + np.stack([shot.normal(0, 0.10) for _ in range(3)], 1)
        )
    return t
