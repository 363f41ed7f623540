public import MartletCrypto
public import MartletModel

/// Makes tokens as an identity provider does.
public struct TokenMaker: Sendable {
    public static let issuer = "https://id.example/realm"
    public static let audience = "martlet"

    public let key: P256PrivateKey
    public let id: String

    public init(id: String = "one") throws {
        key = try P256PrivateKey.generate()
        self.id = id
    }

    /// The public key as a JSON Web Key, in the form in which the provider publishes it.
    public var jwk: JSON {
        let point = key.publicKey.rawPoint
        return [
            "kty": "EC", "crv": "P-256", "kid": .string(id), "x": .string(Base64URL.encode(Array(point[1..<33]))),
            "y": .string(Base64URL.encode(Array(point[33...]))),
        ]
    }

    /// Returns the claims of a valid token at a given time.
    public static func claims(at now: Timestamp) -> [String: JSON] {
        [
            "iss": .string(issuer), "aud": .string(audience), "preferred_username": "Alice",
            "exp": .integer(now.seconds + 300), "iat": .integer(now.seconds),
        ]
    }

    /// Returns a token with these claims.
    /// - Parameter changes: Header parameters that replace or extend the usual ones; `null` leaves a parameter out.
    public func token(_ claims: [String: JSON], header changes: [String: JSON] = [:]) throws -> String {
        var header: [String: JSON] = ["alg": "ES256", "kid": .string(id), "typ": "JWT"]
        for (name, value) in changes { header[name] = value == .null ? nil : value }
        let signed = [JSON.object(header), .object(claims)].map { Base64URL.encode($0.bytes) }.joined(separator: ".")
        return signed + "." + Base64URL.encode(try key.signature(for: Array(signed.utf8)))
    }
}
