"""`martlet move` to a database whose synchronous standby is missing.

A server that serves is asked to move its data. If the standby is missing from the beginning, or is lost during the copy, the
move is refused before the directory is marked, and the server goes on. If the COMMIT of the move is canceled, or PostgreSQL
crashes and is started again while the COMMIT waits for the standby, the move is done only when the standby has it.

    standby_moves.py MARTLET
"""

import asyncio
import os
import shutil
import sys
import tempfile
import time

import moves
import online_moves
import postgres
import processes
from checks import Checks

checks = Checks("standby_moves")

REFUSAL = "does not complete a COMMIT"
#: How long it is watched that a move is not done, in seconds.
WATCHING = 6
#: The sessions whose COMMIT waits for a standby.
WAITING = "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = 'martlet move'"


class Course:
    def __init__(self, binary, folder):
        self._binary = binary
        self._data, self._node = (os.path.join(folder, name) for name in ("replicated", "replicated-node"))

    async def run(self):
        self._cluster = postgres.ReplicatedCluster()
        self._server = None
        try:
            processes.create_hub(self._binary, self._data, "staying")
            await self._serve()
            await self._missing()
            await self._serve()
            await self._lost()
            for name, disturb in (("is canceled", self._cancel), ("outlives PostgreSQL", self._restart)):
                await self._serve()
                await self._unconfirmed(f"a COMMIT that {name}", disturb)
        finally:
            if not self._has_ended:
                self._server.process.kill()
            self._cluster.stop()

    async def _serve(self):
        """Starts the server, if it does not run, as if nothing had been moved."""
        if not self._has_ended:
            return
        moves.unmark(self._data)
        self._server = processes.Server(self._binary, self._data, f"{self._data}.log")
        await self._server.start()

    @property
    def _has_ended(self):
        return not (self._server and self._server.process) or self._server.process.returncode is not None

    async def _mover(self):
        mover = online_moves.Mover(self._binary, self._data, self._cluster.url, "--stop-limit", "40")
        await mover.start()
        return mover

    async def _refused(self, name, mover):
        code = await mover.end()
        checks.that(f"{name} is refused", code == 1 and REFUSAL in mover.said, f"{code} {mover.said}")
        checks.that(f"{name}: the directory is not marked",
                    not os.path.exists(os.path.join(self._data, "moved")))
        deadline = time.monotonic() + 60
        while not (is_ready := await online_moves.readiness(self._server) == 200) and not self._has_ended:
            if time.monotonic() > deadline:
                break
            await asyncio.sleep(0.1)
        checks.that(f"{name}: the server goes on", is_ready, self._server.log_tail())

    async def _missing(self):
        name = "a move to a database without its standby"
        await self._name_standby("nobody")
        await self._refused(name, await self._mover())
        checks.that(f"{name}: the database is empty", not moves.has_schema(self._cluster))
        checks.that(f"{name}: no copy is left", not os.path.exists(os.path.join(self._data, "snapshot")))
        await self._name_standby("*")
        await asyncio.to_thread(moves.until_no_session, self._cluster)

    async def _lost(self):
        """The standby is lost while the rows are copied."""
        name = "a move whose standby is lost"
        await self._make_schema(online_moves.AT_COPY)
        mover = await self._mover()
        await online_moves.until_held(self._cluster, mover)
        await self._name_standby("nobody")
        self._let_go("at_copy")
        await self._refused(name, mover)
        await self._name_standby("*")
        if not self._has_ended:
            await online_moves.gone_on(checks, moves, name, self._binary, self._server, self._cluster)
            checks.that(f"{name}: the server takes changes",
                        online_moves.RULE in processes.create_hub(self._binary, self._data, "later"))

    async def _unconfirmed(self, name, disturb):
        """The move is stored by the primary, and the standby does not have it."""
        await self._make_schema(online_moves.AT_COMMIT)
        mover = await self._mover()
        await mover.until_stopped()
        await online_moves.until_held(self._cluster, mover)
        await self._name_standby("nobody")
        self._let_go("at_commit")
        await self._until("SELECT count(*) = 1 " + WAITING)
        disturb()
        deadline = time.monotonic() + WATCHING
        while time.monotonic() < deadline and not mover.has_ended:
            await asyncio.sleep(0.1)
        checks.that(f"{name} is not done without the standby", not mover.has_ended, mover.said)
        checks.equal(f"{name}: the server waits for it", self._server.process.returncode, None)
        await self._name_standby("*")
        code = await mover.end()
        checks.equal(f"{name} is done when the standby has it", (code, mover.said[-300:] if code else ""), (0, ""))
        checks.equal("and the server ends", await asyncio.wait_for(self._server.process.wait(), 60), 0)
        checks.that("and the hub is there", "staying" in self._cluster.query(online_moves.HUBS).split())

    def _cancel(self):
        checks.equal("a COMMIT is canceled", self._cluster.query("SELECT pg_cancel_backend(pid) " + WAITING), "t")

    def _restart(self):
        for command in ("stop", "start"):
            self._cluster.order(command)

    # The database

    async def _make_schema(self, trigger):
        """Makes an empty schema, which holds a move at a trigger."""
        moves.empty(self._cluster)
        # A node that finds its former number in its directory would end the lease of another node with that number.
        shutil.rmtree(self._node, ignore_errors=True)
        os.makedirs(self._node, mode=0o700)
        shutil.copy(os.path.join(self._data, "secret.key"), self._node)
        schema = processes.Server(self._binary, self._node, f"{self._node}.log", "--database", self._cluster.url)
        await schema.start()
        await schema.stop()
        self._cluster.query("DROP FUNCTION IF EXISTS public.hold_by_name CASCADE; DROP TABLE IF EXISTS public.released")
        self._cluster.query(online_moves.HOLD_BY_NAME)
        self._cluster.query(trigger)

    async def _name_standby(self, name):
        """Has commits wait for the standby with this name. `nobody` is a standby that is missing, `*` any."""
        self._cluster.query(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'")
        self._cluster.query("SELECT pg_reload_conf()")
        await self._until(f"SELECT current_setting('synchronous_standby_names') = '{name}'")

    def _let_go(self, name):
        """Lets a move go on that is held, although the standby is missing."""
        self._cluster.query(f"SET synchronous_commit = local; INSERT INTO public.released VALUES ('{name}')")

    async def _until(self, condition):
        deadline = time.monotonic() + 60
        while await asyncio.to_thread(self._cluster.query, condition) != "t":
            if time.monotonic() > deadline:
                raise processes.Failed(f"this does not become true: {condition}")
            await asyncio.sleep(0.1)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        checks.finish(Course(os.path.abspath(sys.argv[1]), folder).run())


if __name__ == "__main__":
    main()
