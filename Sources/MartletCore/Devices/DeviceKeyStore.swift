public import MartletModel

/// The key with which senders encrypt for a device (RFC 8291): its public key and its authentication secret.
public struct DeviceKey: Hashable, Sendable {
    /// An uncompressed P-256 point: 65 bytes.
    public var publicKey: [UInt8]
    /// A 16-byte secret, known to the device and to every sender that may encrypt for it.
    public var authSecret: [UInt8]

    public init(publicKey: [UInt8], authSecret: [UInt8]) {
        self.publicKey = publicKey
        self.authSecret = authSecret
    }
}

/// A registration that has a device key.
public struct KeyedDevice: Hashable, Sendable {
    /// The id of the registration.
    public var registration: String
    public var platform: PlatformID
    public var key: DeviceKey

    public init(registration: String, platform: PlatformID, key: DeviceKey) {
        self.registration = registration
        self.platform = platform
        self.key = key
    }
}

/// Stores the keys of devices. A key belongs to its registration and is deleted together with it. A key is stored for
/// one tag of the registration, such as the tag of the device's user, and is returned only for that tag. Therefore a
/// key never counts as the key of another user, even if a caller gives other tags to the registration.
public protocol DeviceKeyStore: Sendable {
    /// Sets the key of a registration; nil removes the key.
    /// - Parameter tag: The tag of the registration for which the key is stored.
    /// - Returns: Whether the registration exists and has the tag.
    @discardableResult
    func putDeviceKey(
        _ key: DeviceKey?, of registration: String, tagged tag: Tag, in hub: Hub.ID
    ) async throws(StorageError) -> Bool

    /// Returns the registrations that have a key for a tag, still have that tag, and have not expired. The newest is
    /// first.
    func deviceKeys(
        of tag: Tag, in hub: Hub.ID, at now: Timestamp, limit: Int
    ) async throws(StorageError) -> [KeyedDevice]
}
