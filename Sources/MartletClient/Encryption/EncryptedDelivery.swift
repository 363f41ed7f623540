/// The way an encrypted message reaches one device: in the push itself, or stored at the server.
public struct EncryptedDelivery: Hashable, Sendable {
    /// The registration id of the device that the message was encrypted for.
    public let device: String
    /// The id under which the device fetches the message; nil if the push itself carries the message.
    public let storedID: Int32?
}
