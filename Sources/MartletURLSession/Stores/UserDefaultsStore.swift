import Foundation
public import MartletClient

/// Keeps a value that is not secret in the app's user defaults.
///
/// An app and its extensions share a value through the suite of their app group. If two apps of one family share
/// defaults, they need different keys, because each app on a device has its own registration.
public struct UserDefaultsStore: ClientStore {
    private let suite: String?
    private let key: String

    /// Creates a store for one value.
    /// - Parameters:
    ///   - suite: The suite of the user defaults; nil means the app's own user defaults.
    ///   - key: The key under which the value is stored in the user defaults.
    public init(suite: String? = nil, key: String) {
        self.suite = suite
        self.key = key
    }

    public func load() async -> [UInt8]? { defaults?.data(forKey: key).map { Array($0) } }

    public func save(_ value: [UInt8]?) async {
        if let value { defaults?.set(Data(value), forKey: key) } else { defaults?.removeObject(forKey: key) }
    }

    private var defaults: UserDefaults? { suite.map { UserDefaults(suiteName: $0) } ?? .standard }
}
