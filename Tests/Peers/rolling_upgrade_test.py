"""Judges the rules of the judge of rolling upgrades: what is right must pass, each kind of wrong must be found."""

import collections
import random
import sys
import unittest

import rolling_upgrade
from rolling_upgrade import Balancer, Load, agree, read_answer

Named = collections.namedtuple("Named", "name")
FIRST, SECOND, THIRD = [Named(name) for name in ("a", "b", "c")]
XML = b'<s:State xmlns:s="urn:s" at="http://127.0.0.1:%d/hub">%s</s:State>'


class Answers(unittest.TestCase):
    def test_the_newer_version_may_say_more(self):
        self.assertTrue(agree({"verdict": "delivered", "tags": ["x"]}, {"verdict": "delivered", "tags": ["x"], "more": 1}))

    def test_it_may_not_say_less_or_otherwise(self):
        for new in [{}, {"verdict": "missed"}, {"verdict": None}, [], None]:
            self.assertFalse(agree({"verdict": "delivered"}, new), new)
        self.assertFalse(agree(["x"], ["x", "y"]))
        self.assertFalse(agree(["x", "y"], ["y", "x"]))

    def test_the_port_of_a_node_is_no_difference(self):
        one, other = [read_answer(200, XML % (port, b"Completed"), port) for port in (4001, 4002)]
        self.assertTrue(agree(one, other))

    def test_texts_and_status_are(self):
        one = read_answer(200, XML % (4001, b"Completed"), 4001)
        self.assertFalse(agree(one, read_answer(200, XML % (4001, b"Processing"), 4001)))
        self.assertFalse(agree(one, read_answer(404, XML % (4001, b"Completed"), 4001)))


class Excuses(unittest.TestCase):
    def test_only_what_was_at_the_node_meanwhile_is_excused(self):
        load = Load([], 1)
        load.disturbances.append(["a", 10, 20])
        for name, start, end, is_excused in [
                ("a", 5, 9, False), ("a", 5, 11, True), ("a", 12, 13, True), ("a", 19, 30, True), ("a", 20, 21, False),
                ("b", 12, 13, False)]:
            self.assertEqual(load.is_excused(name, start, end), is_excused, (name, start, end))

    def test_what_lasts_is_excused_as_well(self):
        load = Load([], 1)
        load.disturbances.append(["a", 10, None])
        self.assertTrue(load.is_excused("a", 50, 51))


class LoadBalancer(unittest.TestCase):
    def choices(self, failures, tried=()):
        balancer = Balancer([FIRST, SECOND, THIRD])
        balancer._failures.update(failures)
        return {balancer.choose(random.Random(number), tried).name for number in range(50)}

    def test_all_that_are_ready_are_chosen(self):
        self.assertEqual(self.choices({}), {"a", "b", "c"})

    def test_a_node_is_out_after_as_many_failures_as_the_example_says(self):
        self.assertEqual(self.choices({"a": rolling_upgrade.FALL - 1}), {"a", "b", "c"})
        self.assertEqual(self.choices({"a": rolling_upgrade.FALL}), {"b", "c"})

    def test_what_was_tried_is_not_tried_again_where_there_is_another(self):
        self.assertEqual(self.choices({}, [FIRST]), {"b", "c"})
        self.assertEqual(self.choices({"b": 2, "c": 2}, [FIRST]), {"a"})


if __name__ == "__main__":
    sys.exit(unittest.main())
