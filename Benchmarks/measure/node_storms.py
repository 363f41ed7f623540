"""Storms of small requests to a node; the database's processor time for each is counted, too."""
from .figures import Figure
from .storm import Upserts
from .users import UserSends


def with_database(cluster, storm):
    """A storm that knows the microseconds of the database for each request."""
    before = cluster.cpu_seconds()
    result = storm()
    result.database_each = (cluster.cpu_seconds() - before) / result.requests * 1e6
    return result


def databases(name, samples, measure, **target):
    """A row of the database's processor time, beside that of a transaction of pgbench."""
    return Figure(
        name, "us", [it.database_each for it in samples[measure]], "pgbench", [it.cpu_each for it in samples["pgbench"]],
        **target)


class NodeSends(UserSends):
    """To the users of a hub that is made for them."""

    # A group of commits may take as long.
    silence_seconds = 2

    def __init__(self, sink, nodes, devices):
        super().__init__(sink, devices)
        self._nodes = nodes
        nodes.create_hub(sink.port, "users", devices)
        self.server, self._data = nodes.first, nodes.first.data
        self.run()
        nodes.settle()

    def run(self, rate=None):
        return with_database(self._nodes.cluster, lambda: super(NodeSends, self).run(rate))


class NodeUpserts(Upserts):
    """Into a hub that is there."""

    def __init__(self, nodes, hub):
        super().__init__(hub=hub)
        self._nodes, self._server, self._folder = nodes, nodes.first, nodes.first.data

    def run(self):
        return with_database(self._nodes.cluster, super().run)

    def _successor(self):
        return self._server
