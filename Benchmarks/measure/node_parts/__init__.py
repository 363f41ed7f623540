"""What `Benchmarks/nodes` measures, part by part: each gives the rows of the table that it is about."""
from . import broadcasts, pauses, sends, spread, standby, upserts

ALL = {
    "spread": spread, "broadcasts": broadcasts, "sends": sends, "upserts": upserts, "standby": standby, "pauses": pauses,
}
