/// The dependencies that a `PushClient` needs to send and receive end-to-end encrypted messages.
///
/// ```swift
/// let encryption = EndToEndEncryption(
///     CryptoKitCryptography(), keyPairs: KeychainDeviceKeyPairStore(accessGroup: "TEAM.org.example.app"),
///     pins: FileKeyPinStore(path: folder + "/pins.json"))
/// ```
public struct EndToEndEncryption: Sendable {
    /// The cryptographic primitives, such as those of CryptoKit or OpenSSL.
    public let cryptography: any ClientCryptography
    /// The store of this device's key pair, which is created at the first registration.
    public let keyPairs: any DeviceKeyPairStore
    /// The store of the recipients' keys that this user trusts.
    public let pins: any KeyPinStore

    /// - Parameters:
    ///   - cryptography: The cryptographic primitives: `CryptoKitCryptography`, or those of `MartletOpenSSL`.
    ///   - keyPairs: The store of this device's key pair.
    ///   - pins: The store of the recipients' keys. Use a store that persists across launches.
    public init(
        _ cryptography: any ClientCryptography, keyPairs: any DeviceKeyPairStore, pins: any KeyPinStore
    ) {
        self.cryptography = cryptography
        self.keyPairs = keyPairs
        self.pins = pins
    }
}
