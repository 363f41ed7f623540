#if canImport(Security)
import Foundation
public import MartletClient
import Security

/// Keeps a value in the keychain.
///
/// The value is readable once the device has been unlocked for the first time after a restart, so that a push can be
/// handled while the device is locked. The value is never restored to another device from a backup.
public struct KeychainStore: CredentialStore {
    private let service: String
    private let account: String
    private let accessGroup: String?

    /// Creates a store for one value.
    /// - Parameters:
    ///   - service: The service name of the keychain item, for example the app's bundle identifier. The service name
    ///     and `account` together identify the item.
    ///   - account: A different name for each value.
    ///   - accessGroup: The keychain access group that an app shares with its extensions, with its team's prefix. If
    ///     nil, only the app can read the value.
    public init(service: String, account: String = "credentials", accessGroup: String? = nil) {
        self.service = service
        self.account = account
        self.accessGroup = accessGroup
    }

    public func load() async -> [UInt8]? {
        var query = query
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var item: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &item) == errSecSuccess, let data = item as? Data else {
            return nil
        }
        return Array(data)
    }

    public func save(_ value: [UInt8]?) async {
        guard let value else {
            SecItemDelete(query as CFDictionary)
            return
        }
        let attributes: [String: Any] = [
            kSecValueData as String: Data(value),
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        guard SecItemUpdate(query as CFDictionary, attributes as CFDictionary) == errSecItemNotFound else { return }
        SecItemAdd(query.merging(attributes) { _, new in new } as CFDictionary, nil)
    }

    private var query: [String: Any] {
        var query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecAttrAccount as String: account,
            // This attribute selects the keychain that supports access groups and accessibility, also on macOS.
            kSecUseDataProtectionKeychain as String: true,
        ]
        if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup }
        return query
    }
}

extension ClientStores {
    /// Returns the stores of the system: the keychain for credentials, user defaults for other values.
    /// - Parameters:
    ///   - service: The service name of the keychain items: the bundle identifier of the **app**, also in its
    ///     extensions.
    ///   - accessGroup: The keychain access group that the app shares with its extensions.
    ///   - appGroup: The app group that the app shares with its extensions.
    ///   - process: `app` in the app, and a different name in each extension, because receipts are not shared.
    public static func system(
        service: String, accessGroup: String? = nil, appGroup: String? = nil, process: String = "app"
    ) -> ClientStores {
        ClientStores(
            credentials: KeychainStore(service: service, accessGroup: accessGroup),
            registration: UserDefaultsStore(suite: appGroup, key: "\(service).registration"),
            receipts: UserDefaultsStore(suite: appGroup, key: "\(service).receipts.\(process)"))
    }
}
#endif
