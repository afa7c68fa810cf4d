"""Papers that several families of metrics come from."""

from __future__ import annotations

MUBOX = "MUBox (Li, Thuraisingham, Wei; SACMAT 2025), section 3.4"
FORGETTING = "Are We Truly Forgetting? (Kim, Cha, Kim), section 4.1"
