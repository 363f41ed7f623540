/// A device's keys for end-to-end encryption. The private key never leaves the device.
public struct DeviceKeyPair: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The private key, in the format of the `ClientCryptography` that made it.
    public let privateKey: [UInt8]
    /// The public part, which senders receive.
    public let key: DeviceKey

    /// Creates a key pair from a private key and its public part. Does not check that the two belong together.
    public init(privateKey: [UInt8], key: DeviceKey) {
        self.privateKey = privateKey
        self.key = key
    }

    /// Makes a new private key and a new authentication secret.
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

    /// A description without the keys.
    public var description: String { "DeviceKeyPair" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
