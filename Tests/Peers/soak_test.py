"""Judges the soak on a toy hub: a right one must pass, each kind of wrong one must be caught for its fault."""

import unittest

from toys import ToyCase

# What must be found wrong with each faulty toy, and what it takes to see it.
FAULTS = {
    "forgets-retries": ("lost:",),
    "twice": ("twice:",),
    "schedules-early": ("early:",),
    "leaks": ("growing:", "--slope-limit", "100000"),
    "sends-again": ("stuck:",),
    "sluggish": ("slow:", "--latency-limit", "1"),
}


class Soak(ToyCase):
    def soak(self, fault, *options):
        arguments = ["--minutes", "0.15", "--users", "12", "--crowd", "20", "--settle", "20", *options]
        return self.judge("soak.py", fault, *arguments)

    def test_a_right_hub_passes(self):
        code, words = self.soak("", "--latency-limit", "30")
        self.assertEqual(code, 0, words)
        self.assertIn("nothing is lost", words)

    def test_each_wrong_hub_is_caught(self):
        for fault, (sign, *options) in FAULTS.items():
            with self.subTest(fault):
                code, words = self.soak(fault, *options, *(["--settle", "3"] if fault == "sends-again" else []))
                self.assertEqual(code, 1, words)
                self.assertIn(f"soak: {sign}", words)


if __name__ == "__main__":
    unittest.main()
