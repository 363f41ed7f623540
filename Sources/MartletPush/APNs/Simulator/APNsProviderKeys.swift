import MartletCrypto
import MartletHTTP
import MartletModel

/// The signing keys that are registered with a simulated service, and the provider tokens that it has verified.
struct APNsProviderKeys {
    struct Key {
        let teamID: String
        let publicKey: P256PublicKey
        /// The environment of the key; nil if the key is for both environments.
        let environment: APNsEnvironment?
    }

    private static let verifiedLimit = 1000
    private static let clockSkew: Duration = .seconds(5)

    /// Whether a token that was signed with an unregistered key is accepted without a check of its signature.
    let acceptsAnyKey: Bool
    private var keys: [String: Key] = [:]
    private var verified: [String: APNsProviderToken] = [:]

    init(acceptsAnyKey: Bool) {
        self.acceptsAnyKey = acceptsAnyKey
    }

    mutating func register(_ key: Key, id: String) {
        keys[id] = key
        verified = [:]
    }

    /// Parses and verifies the provider token that follows `bearer ` in a header field.
    ///
    /// The token must be signed with a registered key, unless `acceptsAnyKey` is set. The key must be for the given
    /// environment. The token must be neither too old nor from the future.
    mutating func token(
        _ text: Substring, environment: APNsEnvironment, at now: Timestamp
    ) throws(APNsRefusal) -> APNsProviderToken {
        let token = try verify(text)
        if let key = keys[token.keyID], let only = key.environment, only != environment {
            throw APNsRefusal(.forbidden, "BadEnvironmentKeyInToken")
        }
        guard token.issuedAt <= now + Self.clockSkew else { throw APNsRefusal(.forbidden, "InvalidProviderToken") }
        guard now - token.issuedAt <= APNsProviderToken.lifetime else {
            throw APNsRefusal(.forbidden, "ExpiredProviderToken")
        }
        return token
    }

    private mutating func verify(_ text: Substring) throws(APNsRefusal) -> APNsProviderToken {
        if let known = verified[String(text)] { return known }
        guard let token = APNsProviderToken(text) else { throw APNsRefusal(.forbidden, "InvalidProviderToken") }
        if let key = keys[token.keyID] {
            guard key.teamID == token.teamID, token.isSigned(by: key.publicKey) else {
                throw APNsRefusal(.forbidden, "InvalidProviderToken")
            }
        } else if !acceptsAnyKey {
            throw APNsRefusal(.forbidden, "InvalidProviderToken")
        }
        if verified.count >= Self.verifiedLimit { verified = [:] }
        verified[String(text)] = token
        return token
    }
}

/// The environment to which a key, a certificate or a device belongs.
public enum APNsEnvironment: String, Hashable, Sendable {
    case sandbox
    case production
}
