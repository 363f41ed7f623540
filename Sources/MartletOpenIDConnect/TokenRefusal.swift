/// A reason why a token is not accepted.
public enum TokenRefusal: Error, Hashable, Sendable {
    case tooLong
    case malformed
    case badAlgorithm
    /// The token's header tries to choose the key that verifies the token, or has extensions that this server does not
    /// know but would have to understand.
    case badHeader
    case badType
    /// The token is only valid together with a proof that its holder has a key (RFC 7800).
    case bound
    case foreignIssuer
    case unknownKey
    case badSignature
    case foreignAudience
    case foreignParty
    case noExpiry
    case badTime
    case expired
    /// The token expires after the year 9999.
    case endless
    case notYetValid
    /// The token is genuine, but its claim is not a valid user name here.
    case noUser(claim: String)
    /// The token's user is an address that the provider has not verified as the holder's.
    case unverifiedAddress

    /// The refusal as a message for the token's holder, in the characters that RFC 6750, section 3, allows.
    public var sentence: String {
        switch self {
        case .tooLong: "The token is too long."
        case .malformed: "The token is neither a session's nor a signed JSON Web Token."
        case .badAlgorithm: "The token must be signed with RS256 or ES256."
        case .badHeader: "The token's header has parameters that are not accepted here."
        case .badType: "The token is of a type that is not for log-ins."
        case .bound: "The token is bound to a key, which this server cannot check."
        case .foreignIssuer: "The token was issued by somebody else than the identity provider of this server."
        case .unknownKey: "The token is signed with a key that the identity provider does not have."
        case .badSignature: "The token's signature is wrong."
        case .foreignAudience: "The token is meant for somebody else than this server."
        case .foreignParty: "The token has several audiences and was issued to another one than this server."
        case .noExpiry: "The token does not say when it expires."
        case .badTime: "The token has a time that is no number."
        case .expired: "The token has expired."
        case .endless: "The token expires after the year 9999, which no token should."
        case .notYetValid: "The token is not valid yet."
        case .noUser(let claim):
            "The token is genuine, but its claim '\(claim)' is no name that a user can have here."
        case .unverifiedAddress:
            "The token is genuine, but the identity provider has not verified its address: it may be somebody else's."
        }
    }
}
