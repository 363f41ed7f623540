"""Judges the fault sweep on a toy hub: a right one must pass, each kind of wrong one must be caught for its fault."""

import unittest

from toys import ToyCase

# What must be found wrong with each faulty toy.
FAULTS = {
    "forgets-retries": ("lost:", "wrong count:"), "drops-healthy": ("dropped:",), "never-ends": ("stuck:",),
    "miscounts": ("sum:",),
}


class FaultSweep(ToyCase):
    def sweep(self, fault):
        return self.judge(
            "fault_sweep.py", fault, "--devices", "12", "--rounds", "2", "--combinations", "0", "--patience", "0.3")

    def test_a_right_hub_passes(self):
        code, words = self.sweep("")
        self.assertEqual(code, 0, words)
        self.assertIn("every state is right", words)

    def test_each_wrong_hub_is_caught(self):
        for fault, signs in FAULTS.items():
            with self.subTest(fault):
                code, words = self.sweep(fault)
                self.assertEqual(code, 1, words)
                self.assertTrue(any(f"fault-sweep: {sign}" in words for sign in signs), words)


if __name__ == "__main__":
    unittest.main()
