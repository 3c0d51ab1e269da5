"""`python -m fullcount`."""

import sys

from fullcount.cli import main

sys.exit(main())
