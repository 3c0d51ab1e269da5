"""What follows from runs: what to run again, whether a build passes, which version holds up.

Pure functions over the model; none of them reads or prints.
"""

from __future__ import annotations
