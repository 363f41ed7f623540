"""A file of lines that another program is still writing."""


class GrowingFile:
    def __init__(self, path):
        self._file, self._rest = open(path, "rb"), b""

    def lines(self):
        """The lines that were completed since the last call, as bytes: what is being written may end in the middle of a
        character."""
        *lines, self._rest = (self._rest + self._file.read()).split(b"\n")
        return lines
