public import MartletModel

/// A simulated service that real devices, such as browsers, can connect to. Each device keeps a WebSocket open. Over
/// this WebSocket, the device registers itself and receives messages.
public protocol DeviceSocketSimulator: PushServiceSimulator {
    /// The WebSocket subprotocol that devices offer.
    static var socketProtocol: String { get }

    /// Handles one message from a device.
    /// - Parameter socket: The number of the connection on which the message arrived. The code that owns the sockets
    ///   assigns these numbers.
    /// - Returns: The actions to perform on the connections of devices.
    mutating func receive(_ text: String, on socket: UInt64, at now: Timestamp) -> [SocketStep]

    /// Records that the connection of a device was closed.
    mutating func socketClosed(_ socket: UInt64)

    /// The devices that have registered themselves, as a JSON array for the control interface, oldest first.
    var connectedDevices: JSON { get }

    /// The connections of the devices that are connected now, the oldest device first.
    var sockets: [UInt64] { get }
}

/// An action on a device's connection.
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
