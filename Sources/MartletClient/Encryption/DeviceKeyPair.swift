/// A device's keys for end-to-end encryption. The private key never leaves the device.
public struct DeviceKeyPair: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The private key, in the bytes of the `ClientCryptography` that made it.
    public let privateKey: [UInt8]
    /// What senders get.
    public let key: DeviceKey

    /// - Parameters: As the properties.
    public init(privateKey: [UInt8], key: DeviceKey) {
        self.privateKey = privateKey
        self.key = key
    }

    /// Makes a new key and a new secret.
    public static func generate(_ cryptography: any ClientCryptography) throws(ClientCryptographyError) -> DeviceKeyPair
    {
        let privateKey = try cryptography.makePrivateKey()
        guard
            let key = DeviceKey(
                publicKey: try cryptography.publicKey(of: privateKey),
                authSecret: try cryptography.randomBytes(DeviceKey.authSecretByteCount))
        else { throw .failed }
        return DeviceKeyPair(privateKey: privateKey, key: key)
    }

    /// Shows no key.
    public var description: String { "DeviceKeyPair" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
