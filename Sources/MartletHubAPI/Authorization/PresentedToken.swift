import MartletCore

/// The token of a request, with the keys that are known to have signed it.
struct PresentedToken {
    /// The whole `Authorization` header.
    let header: String
    let signature: SharedAccessSignature
    let audience: TokenAudience
    /// nil: the signature has not been checked.
    var signer: VerifyingKeys?
}

/// The keys that verified a signature. The signature stays valid while a rule has exactly these keys.
struct VerifyingKeys: Equatable {
    private let primaryKey: String
    private let secondaryKey: String

    init(_ rule: AccessRule) {
        primaryKey = rule.primaryKey
        secondaryKey = rule.secondaryKey
    }
}
