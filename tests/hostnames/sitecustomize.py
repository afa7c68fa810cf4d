"""Read by every Python that has this folder on its path: the machine is called what
`TEST_HOST_NAME` says. Several machines of a test are one.
"""

import os
import socket

if "TEST_HOST_NAME" in os.environ:
    vars(socket)["gethostname"] = lambda: os.environ["TEST_HOST_NAME"]
