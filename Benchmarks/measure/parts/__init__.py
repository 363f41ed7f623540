"""What `Benchmarks/run` measures, part by part: each gives the rows of the table that it is about."""
from . import audience, broadcasts, growth, imports, kept, platforms, starts, upserts, users, wire

ALL = {
    "wire": wire, "broadcasts": broadcasts, "platforms": platforms, "users": users, "upserts": upserts,
    "imports": imports, "kept": kept, "audience": audience, "starts": starts, "growth": growth,
}
