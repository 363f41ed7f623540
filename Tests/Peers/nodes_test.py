"""Judges the rules of the judge of nodes: what is right must pass, each kind of wrong must be found."""

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
import unittest

import disturbances
import node_history
import nodes
from node_history import History, Push

HUB = 7


def history(first_ends=None, first_dies=None, owners=((0, 1),), ends=()):
    """Two nodes, `a` with process 11 and `b` with process 12, which renew each second for a minute, from 0; `a` perhaps
    not so long."""
    end = 60 if first_ends is None else first_ends
    leases = [(1, "a", False, moment) for moment in range(end + 1)]
    leases += [(2, "b", False, moment + 0.5) for moment in range(60)]
    if first_dies is not None:
        leases.append((1, "a", True, first_dies))
    leases.sort(key=lambda lease: lease[3])
    return History(leases, [(HUB, number, moment) for moment, number in owners], {11: [("a", -1)], 12: [("b", -1)]}, ends)


def push(moment, process, key="m", token="t"):
    return Push(key, token, moment, 1.0, process, "id")


class Rules(unittest.TestCase):
    def again(self, judged, *pushes):
        return [explained for _, _, explained in judged.repetitions(pushes, window=6)]

    def test_what_a_dead_node_had_in_hand_may_come_again(self):
        judged = history(first_ends=20, first_dies=33)
        self.assertEqual(self.again(judged, push(18, 11), push(34, 12)), [True])

    def test_what_it_had_sent_long_before_may_not(self):
        judged = history(first_ends=20, first_dies=33)
        self.assertEqual(self.again(judged, push(10, 11), push(34, 12)), [False])

    def test_nothing_comes_again_from_a_node_that_lives(self):
        self.assertEqual(self.again(history(), push(18, 11), push(19, 12)), [False])
        self.assertEqual(self.again(history(), push(18, 11), push(19, 11)), [False])

    def test_what_was_in_hand_may_come_again_also_from_a_node_that_is_back_soon(self):
        judged = history(first_ends=20, first_dies=21)
        self.assertEqual(self.again(judged, push(20, 11), push(22, 12)), [True])

    def test_nothing_comes_again_from_a_node_that_ended_in_order(self):
        judged = history(first_ends=20, first_dies=21, ends=[("a", 20.4)])
        self.assertEqual(self.again(judged, push(20, 11), push(22, 12)), [False])

    def test_other_devices_and_messages_are_no_repetition(self):
        pushes = [push(1, 11), push(2, 11, token="u"), push(3, 11, key="n")]
        self.assertEqual(self.again(history(), *pushes), [])

    def test_a_node_sends_for_eight_seconds_without_a_renewal(self):
        judged = history(first_ends=20)
        self.assertEqual(list(judged.late([push(28.9, 11)], grace=1)), [])
        [(late, age)] = judged.late([push(30, 11)], grace=1)
        self.assertEqual((late.arrived, age), (30, 10))

    def test_a_node_sends_for_its_own_hubs(self):
        judged = history(owners=((0, 1), (30, 2)))
        right = [push(5, 11), push(30.2, 11), push(31, 12)]
        self.assertEqual(list(judged.foreign(right, lambda _: HUB, grace=0.5)), [])
        wrong = [push(5, 12), push(33, 11)]
        self.assertEqual([number for _, number in judged.foreign(wrong, lambda _: HUB, grace=0.5)], [2, 1])

    def test_a_pause_holds_within_a_second_at_a_node_that_can_know_it(self):
        self.assertEqual(list(history().leaks([push(10.9, 11), push(20, 11)], 10, 15, grace=0.2)), [])
        self.assertEqual(len(list(history().leaks([push(12, 11)], 10, 15, grace=0.2))), 1)
        self.assertEqual(list(history(first_ends=9).leaks([push(12, 11)], 10, 15, grace=0.2)), [])

    def test_the_dead_stay_dead(self):
        judged = history(first_ends=40, first_dies=20)
        self.assertEqual(judged.incarnations[1].revivals[0], 21)

    def test_a_takeover_is_timed_from_the_last_renewal(self):
        judged = history(first_ends=20, first_dies=32.1, owners=((0, 1), (32.5, 2)))
        [(hub, former, last, moment, since)] = judged.takeovers()
        self.assertEqual((hub, former.number, last, moment, since), (HUB, 1, 20, 32.5, 20))

    def test_a_takeover_has_more_time_while_the_database_is_away(self):
        judged = history(first_ends=20, first_dies=32.1, owners=((0, 1), (36, 2)))
        [(*_, since)] = judged.takeovers([(3, 5), (18, 21), (30, 33), (40, 44)])
        self.assertEqual(since, 24)

    def test_the_share_of_a_third_node_is_kept_for_a_while(self):
        def since(third_ends, moment):
            leases = [(1, "a", False, at) for at in range(21)] + [(2, "b", False, at) for at in range(60)]
            leases += [(3, "c", False, at) for at in range(third_ends + 1)] + [(1, "a", True, 33)]
            judged = History(leases, [(HUB, 1, 0), (HUB, 2, moment)], {})
            [(*_, found)] = judged.takeovers()
            return found
        self.assertEqual(since(32, 35.5), 32 + 3 - 12)
        self.assertEqual(since(34, 35.5), 20)
        self.assertEqual(since(28, 35.5), 20)
        self.assertEqual(since(60, 35.5), 20)

    def test_what_is_left_in_order_is_no_takeover(self):
        judged = history(first_ends=20, first_dies=20.5, owners=((0, 1), (21, 2)), ends=[("a", 20.2)])
        self.assertEqual(list(judged.takeovers()), [])

    def test_a_node_is_dead_because_of_what_was_done_to_it(self):
        def buried(*faults):
            return [each.number for each in history(first_ends=20, first_dies=32.1).buried(faults, calm=6)]
        self.assertEqual(buried(), [1])
        self.assertEqual(buried(["a", 20, 31]), [])
        self.assertEqual(buried(["a", 20, None]), [])
        self.assertEqual(buried(["a", 10, 15]), [])
        self.assertEqual(buried(["a", 5, 10], ["a", 33, 40], ["b", 20, 31], [None, 20, 31]), [1])

    def test_a_node_that_left_is_not_taken_for_dead(self):
        judged = history(first_ends=20, first_dies=20.5, ends=[("a", 20.2)])
        self.assertEqual(list(judged.buried([], calm=6)), [])

    def test_a_gap_between_renewals_begins_the_time_to_take_over_anew(self):
        renewals = [*range(25), *range(30, 60)]
        leases = [(1, "a", False, moment) for moment in range(21)] + [(2, "b", False, moment) for moment in renewals]
        leases += [(1, "a", True, 42)]
        judged = History(leases, [(HUB, 1, 0), (HUB, 2, 42.5)], {})
        [(*_, since)] = judged.takeovers()
        self.assertEqual(since, 30)

    def test_a_process_that_begins_anew_is_another_incarnation(self):
        leases = [(1, "a", False, 0), (1, "a", True, 15), (2, "a", False, 16)]
        judged = History(leases, [], {11: [("a", -1)]})
        self.assertEqual(judged.sender(Push("m", "t", 20, 17, 11)).number, 2)
        self.assertEqual(judged.sender(Push("m", "t", 20, 5, 11)).number, 1)
        self.assertIsNone(judged.sender(Push("m", "t", 20, 5, None)))


class Answers(unittest.TestCase):
    def test_successes_in_a_span_are_found(self):
        answers = [(9.0, "a"), (10.5, "b"), (15.0, "c"), (20.5, "d")]
        self.assertEqual(nodes.answered_during(answers, [(10, 20)], grace=1), ["c 5.0 s after"])
        self.assertEqual(nodes.answered_during(answers, [], grace=1), [])

    def test_a_full_disk_explains_what_is_answered_until_shortly_after(self):
        load = nodes.Load([], 1)
        self.assertFalse(load.had_no_room(0, 100))
        load.fillings.append([50, 60])
        self.assertFalse(load.had_no_room(40, 49))
        self.assertTrue(load.had_no_room(45, 51))
        self.assertTrue(load.had_no_room(65, 70))
        self.assertFalse(load.had_no_room(67, 70))
        load.fillings.append([80, None])
        self.assertTrue(load.had_no_room(90, 91))

    def test_disturbances_of_a_node_end_together_and_others_go_on(self):
        load = nodes.Load([], 1)
        load.begin_disturbance("a")
        load.begin_disturbance(None)
        load.end_disturbances("a")
        self.assertEqual([(name, end is None) for name, _, end in load.disturbances], [("a", False), (None, True)])


class Clocks(unittest.TestCase):
    def test_a_clock_is_ahead_or_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            clock = disturbances.Clock(os.path.join(folder, "clock"))
            for offset in (disturbances.DAY, -disturbances.DAY, 0):
                clock.set(offset)
                shown = subprocess.run(["date", "+%s"], env=clock.environment(), capture_output=True, check=True).stdout
                self.assertAlmostEqual(int(shown), time.time() + offset, delta=5)


class Wires(unittest.IsolatedAsyncioTestCase):
    """A way to a server that echoes."""

    async def asyncSetUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        socket = os.path.join(self.folder.name, "socket")

        async def echo(reader, writer):
            while data := await reader.read(100):
                writer.write(data)
            writer.close()

        self.server = await asyncio.start_unix_server(echo, socket)
        self.wires = nodes.Wires(1, [socket], os.path.join(self.folder.name, "log"))
        await self.wires.start()
        self.port = int(self.wires.ports[0][0])

    async def asyncTearDown(self):
        self.server.close()
        self.wires.process.kill()
        await self.wires.process.wait()

    async def connect(self):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.addCleanup(writer.close)
        return reader, writer

    async def echoed(self, connection, seconds=2):
        """What came back of what is sent; empty after the end, None without an answer."""
        reader, writer = connection
        writer.write(b"hello")
        with contextlib.suppress(ConnectionError):
            try:
                return await asyncio.wait_for(reader.read(100), seconds)
            except asyncio.TimeoutError:
                return None
        return b""

    async def test_a_wire_carries(self):
        self.assertEqual(await self.echoed(await self.connect()), b"hello")

    async def test_a_cut_ends_connections_and_lets_none_in(self):
        connection = await self.connect()
        self.assertEqual(await self.echoed(connection), b"hello")
        await self.wires.order("cut", 0)
        self.assertEqual(await self.echoed(connection), b"")
        self.assertEqual(await self.echoed(await self.connect()), b"")
        await self.wires.order("mend", 0)
        self.assertEqual(await self.echoed(await self.connect()), b"hello")

    async def test_what_is_held_up_arrives_later(self):
        connection = await self.connect()
        self.assertEqual(await self.echoed(connection), b"hello")
        await self.wires.order("hold", 0)
        self.assertIsNone(await self.echoed(connection, 0.3))
        late = await self.connect()
        self.assertIsNone(await self.echoed(late, 0.3))
        await self.wires.order("mend", 0)
        self.assertEqual(await asyncio.wait_for(connection[0].read(100), 2), b"hello")
        self.assertEqual(await asyncio.wait_for(late[0].read(100), 2), b"hello")

    async def test_what_was_held_up_can_be_ended(self):
        connection = await self.connect()
        self.assertEqual(await self.echoed(connection), b"hello")
        await self.wires.order("hold", 0)
        self.assertIsNone(await self.echoed(connection, 0.3))
        await self.wires.order("reset", 0)
        self.assertEqual(await self.echoed(connection), b"")

    async def test_a_slow_wire_is_late_and_loses_nothing(self):
        connection = await self.connect()
        await self.wires.order("slow", 0, 0.2)
        start = asyncio.get_running_loop().time()
        self.assertEqual(await self.echoed(connection), b"hello")
        self.assertGreaterEqual(asyncio.get_running_loop().time() - start, 0.4)


if __name__ == "__main__":
    sys.exit(unittest.main())
