import Foundation
public import MartletClient

/// Keeps the registration id in the app's user defaults.
///
/// Two apps of one family that share defaults need two names: each app on a device has its own registration.
public struct UserDefaultsRegistrationIDStore: RegistrationIDStore {
    private let suite: String?
    private let key: String

    /// - Parameters:
    ///   - suite: The defaults' suite; nil means the app's own.
    ///   - key: The name under which the id is kept.
    public init(suite: String? = nil, key: String = "MartletRegistrationID") {
        self.suite = suite
        self.key = key
    }

    public func load() async -> String? { defaults?.string(forKey: key) }

    public func save(_ id: String?) async {
        if let id { defaults?.set(id, forKey: key) } else { defaults?.removeObject(forKey: key) }
    }

    private var defaults: UserDefaults? { suite.map { UserDefaults(suiteName: $0) } ?? .standard }
}
