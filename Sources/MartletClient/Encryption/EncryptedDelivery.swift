/// How an encrypted message is delivered to one device.
public struct EncryptedDelivery: Hashable, Sendable {
    /// The device's registration id.
    public let device: String
    /// The id under which the device fetches the message; nil if the push itself carries the message.
    public let storedID: Int32?
}
