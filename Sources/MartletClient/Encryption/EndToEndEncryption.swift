/// What a `PushClient` needs to send and receive what nobody between the devices can read.
///
/// ```swift
/// let encryption = EndToEndEncryption(
///     CryptoKitCryptography(), keyPairs: KeychainDeviceKeyPairStore(accessGroup: "TEAM.org.example.app"),
///     pins: FileKeyPinStore(path: folder + "/pins.json"))
/// ```
public struct EndToEndEncryption: Sendable {
    /// The primitives.
    public let cryptography: any ClientCryptography
    /// Where this device's key pair is kept; it is made at the first registration.
    public let keyPairs: any DeviceKeyPairStore
    /// Where the keys of those are kept to whom this user sends.
    public let pins: any KeyPinStore

    /// - Parameters:
    ///   - cryptography: The primitives: CryptoKit's, or those of `MartletOpenSSL`.
    ///   - keyPairs: Where this device's key pair is kept.
    ///   - pins: Where the keys of recipients are kept; use a store that outlives the launch.
    public init(
        _ cryptography: any ClientCryptography, keyPairs: any DeviceKeyPairStore, pins: any KeyPinStore
    ) {
        self.cryptography = cryptography
        self.keyPairs = keyPairs
        self.pins = pins
    }
}
