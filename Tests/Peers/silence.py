"""When the other end of a connection has last sent something, whenever that is read."""

import socket
import struct

#: Offset of tcpi_last_data_recv, milliseconds, in the kernel's struct tcp_info.
LAST_DATA = 52


def silence_of(connection):
    """Seconds since the kernel took in something of a connection. A program that stood still finds connections of
    processes that are dead by then; what they sent, they sent alive."""
    information = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return struct.unpack_from("=I", information, LAST_DATA)[0] / 1000
