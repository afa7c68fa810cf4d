"""A further process of a search; `together` starts it."""

import sys

from mucore.tuning.together import main

sys.exit(main())
