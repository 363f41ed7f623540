import MartletCrypto
public import MartletModel

/// The claims of a verified token. Its signature, issuer, audience and times are valid.
public struct IdentityClaims: Sendable {
    let json: JSON
    private let settings: OpenIDConnectSettings

    private static let roleLimit = 1000
    private static let subjectLimit = 255

    init(json: JSON, settings: OpenIDConnectSettings) {
        self.json = json
        self.settings = settings
    }

    /// The provider's name for the user, which is never given to another user (OpenID Connect Core 1.0, section 2);
    /// nil if it is missing or longer than 255 bytes.
    public var subject: String? {
        guard let subject = json["sub"]?.string, (1...Self.subjectLimit).contains(subject.utf8.count) else {
            return nil
        }
        return subject
    }

    /// The client to which the token was issued; nil if the token does not state the client.
    public var party: JSON? { json["azp"] }

    /// When the user last proved who they are, for example with a password (OpenID Connect Core 1.0, section 2); nil if
    /// the provider does not state the time.
    public var authenticatedAt: Timestamp? {
        guard let seconds = try? TokenRules.seconds("auth_time", of: json), (0...4e9).contains(seconds) else {
            return nil
        }
        return Timestamp(seconds: Int64(seconds))
    }

    /// The name or path of the claim that names the user, from the settings.
    public var userClaim: String { settings.userClaim }

    /// Whether the e-mail address counts as the user's own: the provider has verified the address, or does not say
    /// whether it has (OpenID Connect Core 1.0, section 5.1).
    public var isAddressVerified: Bool {
        // The text `true` is accepted too, because some providers write the Boolean as a string.
        [nil, true, "true"].contains(json["email_verified"])
    }

    /// The values of the claim with roles: one text, or a list of texts, of which at most 1,000 are read.
    public var roles: Set<String> {
        guard let name = settings.rolesClaim, let claim = claim(name) else { return [] }
        if let role = claim.string { return [role] }
        return Set((claim.array ?? []).prefix(Self.roleLimit).compactMap(\.string))
    }

    /// Returns whether the token belongs to the sign-in for which a nonce was made. The comparison takes constant time.
    public func hasNonce(_ nonce: String) -> Bool {
        guard let claim = json["nonce"]?.string else { return false }
        return ConstantTime.areEqual(claim, nonce)
    }

    /// Returns the text of a claim; nil if the claim is missing or is not a text.
    /// - Parameter name: The exact name of a claim, which may contain dots. If no claim has this name, the text is read
    ///   as a path of member names that are separated by dots.
    public func text(_ name: String) -> String? { claim(name)?.string }

    private func claim(_ name: String) -> JSON? {
        if let claim = json[name] { return claim }
        return name.split(separator: ".").reduce(json) { found, part in found?[String(part)] }
    }
}
