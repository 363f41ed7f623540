#if canImport(Security)
import Foundation
public import MartletClient
import Security

/// Keeps the key pair in the keychain of this device: readable since it was first unlocked after it started, because
/// pushes arrive while it is locked, and never in a backup for another device.
///
/// The private key is not in the Secure Enclave, which would keep even anyone who has broken into the device from copying
/// it: simulators and many Macs have no enclave. An app that can rely on one writes a `ClientCryptography` on
/// `SecureEnclave.P256.KeyAgreement.PrivateKey`, whose private keys are that type's `dataRepresentation`; this store
/// keeps those as well.
public struct KeychainDeviceKeyPairStore: DeviceKeyPairStore {
    private let service: String
    private let accessGroup: String?

    /// - Parameters:
    ///   - service: Names the item; the bundle identifier of the **app**, in its extensions as well.
    ///   - accessGroup: The keychain access group that the app shares with its notification service extension; nil
    ///     keeps the pair to the app.
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
            // On macOS, too, the keychain that knows access groups and accessibility.
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
