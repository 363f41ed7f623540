"""The search of secret_search.py finds what is there, in whichever piece."""

import os
import socket
import subprocess
import sys
import tempfile
import unittest

import capture

SECRET = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL"


class Holds(unittest.TestCase):
    def test_every_piece_of_sixteen_bytes_is_found(self):
        for start in range(len(SECRET) - 15):
            for around in (b"", b"0123456789abcde", b"\0" * 100, SECRET[:15]):
                self.assertTrue(capture.holds(around + SECRET[start : start + 16] + around, SECRET), start)

    def test_pieces_of_fifteen_bytes_are_not(self):
        for start in range(len(SECRET) - 14):
            self.assertFalse(capture.holds(b"." + SECRET[start : start + 15] + b".", SECRET), start)

    def test_a_later_place_is_found_behind_a_short_one(self):
        self.assertTrue(capture.holds(SECRET[16:30] + b"." + SECRET[16:40], SECRET))
        self.assertFalse(capture.holds(b"", SECRET))


class Memory(unittest.TestCase):
    def test_a_process_gives_away_what_it_holds(self):
        program = "import sys; held = sys.stdin.buffer.read(16); print('ready', flush=True); sys.stdin.read()"
        text = os.urandom(16).hex()[:16].encode()
        with subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            process.stdin.write(text)
            process.stdin.flush()
            process.stdout.readline()
            found = [part for part, data in capture.memory(process.pid) if capture.holds(data, text)]
            process.stdin.close()
        self.assertTrue(found)
        self.assertEqual(process.returncode, 0)


class Elsewhere(unittest.TestCase):
    def test_files_below_are_read(self):
        with tempfile.TemporaryDirectory() as directory:
            os.mkdir(os.path.join(directory, "below"))
            path = os.path.join(directory, "below", "file")
            with open(path, "wb") as file:
                file.write(SECRET)
            self.assertEqual(list(capture.files(directory)), [(path, SECRET)])

    def test_a_tap_keeps_both_directions(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            tap = capture.Tap(server.getsockname()[1])
            with socket.create_connection(("127.0.0.1", tap.port)) as client:
                client.sendall(b"question")
                client.shutdown(socket.SHUT_WR)
                peer, _ = server.accept()
                with peer:
                    self.assertEqual(peer.makefile("rb").read(), b"question")
                    peer.sendall(b"answer")
                self.assertEqual(client.makefile("rb").read(), b"answer")
            self.assertEqual((bytes(tap.sent), bytes(tap.answered)), (b"question", b"answer"))
            tap.close()


if __name__ == "__main__":
    unittest.main()
