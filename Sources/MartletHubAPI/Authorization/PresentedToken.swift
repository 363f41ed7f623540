import MartletCore

/// The token of a request and, after verification, the keys that signed it.
struct PresentedToken {
    /// The whole `Authorization` header.
    let header: String
    let signature: SharedAccessSignature
    let audience: TokenAudience
    /// The keys of the rule that signed the token; nil if the signature has not been checked yet.
    var signer: VerifyingKeys?
}

/// The keys of the rule that signed a token. The token remains valid as long as the rule has exactly these keys.
struct VerifyingKeys: Equatable {
    private let primaryKey: String
    private let secondaryKey: String

    init(_ rule: AccessRule) {
        primaryKey = rule.primaryKey
        secondaryKey = rule.secondaryKey
    }
}
