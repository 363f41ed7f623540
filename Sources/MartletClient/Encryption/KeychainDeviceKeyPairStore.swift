#if canImport(Security)
import Security

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Keeps the key pair in the keychain of this device: readable after the first unlock, because pushes arrive while the
/// device is locked, and never in a backup.
///
/// The private key is not in the Secure Enclave. There it could not be copied even out of a device that was broken into,
/// but Macs and simulators do without an enclave, and a key of it is not made from its number, which RFC 8291's published
/// example needs. An app that wants it writes a `ClientCryptography` on `SecureEnclave.P256.KeyAgreement.PrivateKey`
/// whose private keys are that type's `dataRepresentation`; this store keeps those as well.
public struct KeychainDeviceKeyPairStore: DeviceKeyPairStore {
    private let service: String
    private let accessGroup: String?

    /// - Parameters:
    ///   - service: The name under which the pair is kept.
    ///   - accessGroup: The keychain group that the app shares with its notification service extension; nil means the
    ///     app's own.
    public init(service: String = "org.martlet.device-key", accessGroup: String? = nil) {
        self.service = service
        self.accessGroup = accessGroup
    }

    public func load() async throws(StorageProblem) -> DeviceKeyPair? {
        var found: CFTypeRef?
        let query = query.merging([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne]) { $1 }
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess, let form = found as? Data else { throw Self.problem("read", status) }
        guard let keyPair = DeviceKeyPair(form: Array(form)) else {
            throw StorageProblem("The keychain's item \(service) holds no key pair.")
        }
        return keyPair
    }

    public func save(_ keyPair: DeviceKeyPair?) async throws(StorageProblem) {
        let removed = SecItemDelete(query as CFDictionary)
        guard removed == errSecSuccess || removed == errSecItemNotFound else { throw Self.problem("replaced", removed) }
        guard let keyPair else { return }
        let item = query.merging([
            kSecValueData: Data(keyPair.form), kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]) { $1 }
        let added = SecItemAdd(item as CFDictionary, nil)
        guard added == errSecSuccess else { throw Self.problem("written", added) }
    }

    private var query: [CFString: Any] {
        var query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: "device",
            kSecUseDataProtectionKeychain: true,
        ]
        if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
        return query
    }

    private static func problem(_ verb: String, _ status: OSStatus) -> StorageProblem {
        StorageProblem("The keychain's item cannot be \(verb) (\(status)).")
    }
}
#endif
