"""Start the dashboard from a checkout: `python run_app.py`, as `mucore app` does where mucore is
installed.
"""

import sys

from mucore.launcher import main

if __name__ == "__main__":
    sys.exit(main())
