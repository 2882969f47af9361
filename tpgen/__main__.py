# SPDX-License-Identifier: MIT
"""python3 -m tpgen"""

import sys

from tpgen.cli import main

sys.exit(main(sys.argv[1:]))
