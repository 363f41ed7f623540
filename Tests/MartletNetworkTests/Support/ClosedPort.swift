import Glibc

@testable import MartletNetwork

/// A port of this machine on which nobody listens, and which nobody else gets while it is kept.
final class ClosedPort {
    private let socket: Socket
    let number: UInt16

    init() throws {
        let socket = try Socket(.ipv4)
        guard let any = SocketAddress(address: "127.0.0.1", port: 0), RawClient.bind(socket.descriptor, any) == 0,
            let port = SocketAddress(filledBy: { getsockname(socket.descriptor, $0, $1) })?.port
        else { throw NetworkError.system("a port") }
        number = port
        self.socket = socket
    }
}
