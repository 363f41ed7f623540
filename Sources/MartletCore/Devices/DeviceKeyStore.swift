public import MartletModel

/// What senders encrypt for a device with (RFC 8291): its public key and its authentication secret.
public struct DeviceKey: Hashable, Sendable {
    /// A point of P-256, uncompressed: 65 bytes.
    public var publicKey: [UInt8]
    /// 16 bytes, known to the device and to anyone who may write to it.
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

/// Keeps the keys of devices. A key is its registration's: it goes with it, and counts only while that exists. It is put
/// for a tag, such as its user's, and told of under that alone: who can give a registration other tags makes its key
/// nobody else's.
public protocol DeviceKeyStore: Sendable {
    /// Gives a registration its key, in place of an earlier one; nil: it has none any more.
    /// - Parameter tag: One that the registration carries.
    /// - Returns: Whether there is such a registration.
    @discardableResult
    func putDeviceKey(
        _ key: DeviceKey?, of registration: String, tagged tag: Tag, in hub: Hub.ID
    ) async throws(StorageError) -> Bool

    /// The registrations with a key for a tag that carry it and have not expired, those that were created last first.
    func deviceKeys(
        of tag: Tag, in hub: Hub.ID, at now: Timestamp, limit: Int
    ) async throws(StorageError) -> [KeyedDevice]
}
