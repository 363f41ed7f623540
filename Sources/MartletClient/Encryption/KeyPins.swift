/// The keys of one user that a sender trusts: a fingerprint per device.
public struct KeyPins: Hashable, Sendable {
    /// By the device's registration id.
    public var fingerprints: [String: KeyFingerprint]

    /// - Parameter fingerprints: By the device's registration id.
    public init(_ fingerprints: [String: KeyFingerprint]) {
        self.fingerprints = fingerprints
    }
}

/// Whose keys are pinned: a user of one server.
public struct KeyOwner: Hashable, Sendable {
    /// The server's address.
    public let server: String
    /// The user's name in lower case, as names compare without case.
    public let user: String

    /// - Parameter server: Its address, as `ServerAddress` describes it.
    init(_ user: String, at server: String) {
        self.server = server
        self.user = user.lowercased()
    }
}
