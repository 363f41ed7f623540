#if canImport(Security)
import Foundation
public import MartletClient
import Security

/// Keeps the key pair in the keychain of this device.
///
/// The pair is readable once the device has been unlocked for the first time after a restart, because pushes arrive
/// while the device is locked. The pair is never restored to another device from a backup.
///
/// The private key is not in the Secure Enclave, because simulators and many Macs have no Secure Enclave. The Secure
/// Enclave would prevent the key from being copied even by someone who has broken into the device. An app that can rely
/// on the Secure Enclave implements `ClientCryptography` with `SecureEnclave.P256.KeyAgreement.PrivateKey` and uses
/// that type's `dataRepresentation` as private keys; this store can keep such private keys, too.
public struct KeychainDeviceKeyPairStore: DeviceKeyPairStore {
    private let service: String
    private let accessGroup: String?

    /// Creates a store.
    /// - Parameters:
    ///   - service: The service name of the keychain item: the bundle identifier of the **app**, also in its
    ///     extensions.
    ///   - accessGroup: The keychain access group that the app shares with its notification service extension. If nil,
    ///     only the app can read the pair.
    public init(service: String, accessGroup: String? = nil) {
        self.service = service
        self.accessGroup = accessGroup
    }

    public func load() async throws(StorageProblem) -> DeviceKeyPair? {
        var query = query
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var item: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &item)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess, let data = item as? Data else { throw Self.problem("read", status) }
        guard let keyPair = DeviceKeyPair(bytes: Array(data)) else {
            throw StorageProblem("The keychain's item for the device's key holds none.")
        }
        return keyPair
    }

    public func save(_ keyPair: DeviceKeyPair?) async throws(StorageProblem) {
        guard let keyPair else {
            let status = SecItemDelete(query as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else { throw Self.problem("removed", status) }
            return
        }
        let attributes: [String: Any] = [
            kSecValueData as String: Data(keyPair.bytes),
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        var status = SecItemUpdate(query as CFDictionary, attributes as CFDictionary)
        if status == errSecItemNotFound {
            status = SecItemAdd(query.merging(attributes) { _, new in new } as CFDictionary, nil)
        }
        guard status == errSecSuccess else { throw Self.problem("written", status) }
    }

    private var query: [String: Any] {
        var query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecAttrAccount as String: "device-key",
            // This attribute selects the keychain that supports access groups and accessibility, also on macOS.
            kSecUseDataProtectionKeychain as String: true,
        ]
        if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup }
        return query
    }

    private static func problem(_ verb: String, _ status: OSStatus) -> StorageProblem {
        StorageProblem("The device's key in the keychain cannot be \(verb) (\(status)).")
    }
}
#endif
