import MartletBackend
import MartletCore
import MartletModel

extension DeviceAdministration {
    /// The maximum number of a user's devices among which a device's key is looked for.
    private static let keyedDeviceLimit = 1000

    /// Returns the fingerprints of a device's encryption keys, each with its use: `text`, the key that the app
    /// registered for end-to-end encryption, and `push`, the key with which messages to the handle are encrypted.
    /// - Parameters:
    ///   - newest: The newest version of the device's registrations.
    ///   - current: The versions that have not ended.
    func encryptionKeys(
        of newest: RegistrationVersion, _ current: [RegistrationVersion], in hub: Hub.ID
    ) async throws(StorageError) -> [JSON] {
        var keys: [JSON] = []
        if let key = try await registeredKey(of: current, in: hub) {
            keys.append(Self.json("text", key.publicKey + key.authSecret))
        }
        if let key = platforms[newest.platform]?.encryptionKey(of: newest.handle) {
            keys.append(Self.json("push", key))
        }
        return keys
    }

    /// Returns the key that the app registered for end-to-end encryption. A key is stored for the tag of the user who
    /// registered it, so it is looked for under each user of the device.
    private func registeredKey(
        of current: [RegistrationVersion], in hub: Hub.ID
    ) async throws(StorageError) -> DeviceKey? {
        let ids = Set(current.map(\.id))
        for tag in Set(current.flatMap(\.tags)) where UserName(tag: tag) != nil {
            let keyed = try await store.deviceKeys(of: tag, in: hub, at: time.now, limit: Self.keyedDeviceLimit)
            if let device = keyed.first(where: { ids.contains($0.registration) }) { return device.key }
        }
        return nil
    }

    private static func json(_ use: String, _ key: [UInt8]) -> JSON {
        ["use": .string(use), "fingerprint": .string(DeviceKeyFingerprint.text(of: key))]
    }
}
