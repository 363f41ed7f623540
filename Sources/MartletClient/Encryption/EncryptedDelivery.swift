/// How an encrypted message goes to one device.
public struct EncryptedDelivery: Hashable, Sendable {
    /// The device's registration id.
    public let device: String
    /// The id under which the device fetches the message; nil where it travels in the push itself.
    public let storedID: Int32?
}
