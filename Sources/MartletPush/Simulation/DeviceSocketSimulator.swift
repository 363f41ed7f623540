public import MartletModel

/// A simulated service that real devices can be connected to: each keeps a WebSocket open, over which it makes itself
/// known and receives what was sent to it.
public protocol DeviceSocketSimulator: PushServiceSimulator {
    /// The sub-protocol that devices offer.
    static var socketProtocol: String { get }

    /// Takes one message of a device.
    /// - Parameter socket: Which connection it came on; the shell numbers them.
    mutating func receive(_ text: String, on socket: UInt64, at now: Timestamp) -> [SocketStep]

    /// Forgets a connection that is gone.
    mutating func socketClosed(_ socket: UInt64)

    /// The devices that have made themselves known, for the control interface: an array, the oldest first.
    var connectedDevices: JSON { get }

    /// The connections of the devices that are there now, the oldest device first.
    var sockets: [UInt64] { get }
}

/// What is done on the connection of a device.
public struct SocketStep: Hashable, Sendable {
    public enum Action: Hashable, Sendable {
        case send(String)
        case close(code: UInt16)
    }

    public let socket: UInt64
    public let action: Action

    public init(_ socket: UInt64, _ action: Action) {
        self.socket = socket
        self.action = action
    }
}
