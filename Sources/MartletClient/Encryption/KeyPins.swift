/// The keys of one user that a sender trusts: one fingerprint per device.
public struct KeyPins: Hashable, Sendable {
    /// The fingerprints, keyed by the device's registration id.
    public var fingerprints: [String: KeyFingerprint]

    /// Creates pins from fingerprints that are keyed by the device's registration id.
    public init(_ fingerprints: [String: KeyFingerprint]) {
        self.fingerprints = fingerprints
    }
}

/// The user whose keys are pinned, at one server.
public struct KeyOwner: Hashable, Sendable {
    /// The address of the server where the user has an account.
    public let server: String
    /// The user's name in lower case, because names are compared case-insensitively.
    public let user: String

    /// - Parameter server: The server's address: the `description` of its `ServerAddress`.
    init(_ user: String, at server: String) {
        self.server = server
        self.user = user.lowercased()
    }
}
