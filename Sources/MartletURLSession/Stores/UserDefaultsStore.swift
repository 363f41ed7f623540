import Foundation
public import MartletClient

/// Keeps a value that is no secret in the app's user defaults.
///
/// An app and its extensions share one through the suite of their app group. Two apps of one family that share defaults
/// need two names: each app on a device has its own registration.
public struct UserDefaultsStore: ClientStore {
    private let suite: String?
    private let key: String

    /// - Parameters:
    ///   - suite: The defaults' suite; nil means the app's own.
    ///   - key: The name under which the value is kept.
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
