import MartletCore

/// The token of a request, and who is known to have signed it.
struct PresentedToken {
    /// The whole `Authorization` header.
    let header: String
    let signature: SharedAccessSignature
    let audience: TokenAudience
    /// nil: the signature has not been checked.
    var signer: VerifyingKeys?
}

/// The keys with which a signature was found to be right. It is right as long as a rule has these very keys.
struct VerifyingKeys: Equatable {
    private let primaryKey: String
    private let secondaryKey: String

    init(_ rule: AccessRule) {
        primaryKey = rule.primaryKey
        secondaryKey = rule.secondaryKey
    }
}
