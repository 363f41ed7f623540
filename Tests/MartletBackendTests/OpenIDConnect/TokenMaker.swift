import MartletCrypto
import MartletModel

@testable import MartletBackend

/// An identity provider's way of making tokens.
struct TokenMaker {
    static let issuer = "https://id.example/realm"
    static let audience = "martlet"

    let key: P256PrivateKey
    let id: String

    init(id: String = "one") throws {
        key = try P256PrivateKey.generate()
        self.id = id
    }

    /// The public key as the provider publishes it.
    var jwk: JSON {
        let point = key.publicKey.rawPoint
        return [
            "kty": "EC", "crv": "P-256", "kid": .string(id), "x": .string(Base64URL.encode(Array(point[1..<33]))),
            "y": .string(Base64URL.encode(Array(point[33...]))),
        ]
    }

    var publicKey: JSONWebKey? { JSONWebKey(jwk) }

    static func settings(
        rolesClaim: String? = nil, userClaim: String = "preferred_username"
    )
        throws -> OpenIDConnectSettings
    {
        try OpenIDConnectSettings(issuer: issuer, audience: audience, userClaim: userClaim, rolesClaim: rolesClaim)
    }

    /// What a good token says at a moment.
    static func claims(at now: Timestamp) -> [String: JSON] {
        [
            "iss": .string(issuer), "aud": .string(audience), "preferred_username": "Alice",
            "exp": .integer(now.seconds + 300), "iat": .integer(now.seconds),
        ]
    }

    /// A token with these claims, and header parameters besides or instead of the usual ones; `null` leaves one out.
    func token(_ claims: [String: JSON], header changes: [String: JSON] = [:]) throws -> String {
        var header: [String: JSON] = ["alg": "ES256", "kid": .string(id), "typ": "JWT"]
        for (name, value) in changes { header[name] = value == .null ? nil : value }
        let signed = [JSON.object(header), .object(claims)].map { Base64URL.encode($0.bytes) }.joined(separator: ".")
        return signed + "." + Base64URL.encode(try key.signature(for: Array(signed.utf8)))
    }
}
