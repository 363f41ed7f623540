import MartletCrypto
import MartletModel

/// A provider's public key, limited to the members that verifying a token needs (RFC 7517, RFC 7518 section 6).
struct JSONWebKey: Sendable {
    private enum Material: Sendable {
        case rsa(RSAPublicKey)
        case p256(P256PublicKey)
    }

    let id: String?
    private let material: Material

    /// The maximum number of keys that are read from a set.
    private static let countLimit = 64
    private static let depthLimit = 16

    var algorithm: IdentityToken.Algorithm {
        switch material {
        case .rsa: .rs256
        case .p256: .es256
        }
    }

    /// Returns those keys of a set that can verify tokens. Other keys are skipped.
    /// - Returns: nil if the bytes are not a key set.
    static func keys(ofSet bytes: [UInt8]) -> [JSONWebKey]? {
        guard let keys = (try? JSON(parsing: bytes, maximumDepth: depthLimit))?["keys"]?.array else { return nil }
        return keys.prefix(countLimit).compactMap(JSONWebKey.init)
    }

    /// Reads a key of a set.
    /// - Returns: nil if the key is weak or private, or is of another type or for another purpose.
    init?(_ key: JSON) {
        guard let material = Self.material(of: key) else { return nil }
        self.material = material
        id = key["kid"]?.string
        guard id != nil || key["kid"] == nil, key["d"] == nil, key["use"] ?? "sig" == "sig" else { return nil }
        guard key["alg"] ?? .string(algorithm.rawValue) == .string(algorithm.rawValue) else { return nil }
        guard let operations = key["key_ops"] else { return }
        guard operations.array?.contains("verify") ?? false else { return nil }
    }

    private static func material(of key: JSON) -> Material? {
        switch key["kty"] {
        case "RSA":
            guard let modulus = number("n", of: key), let exponent = number("e", of: key) else { return nil }
            return (try? RSAPublicKey(modulus: modulus, exponent: exponent)).map(Material.rsa)
        case "EC":
            guard key["crv"] == "P-256", let x = number("x", of: key), let y = number("y", of: key), x.count == 32,
                y.count == 32
            else { return nil }
            return (try? P256PublicKey(rawPoint: [4] + x + y)).map(Material.p256)
        default: return nil
        }
    }

    private static func number(_ name: String, of key: JSON) -> [UInt8]? {
        key[name]?.string.flatMap(Base64URL.decode)
    }

    /// Returns whether this key has signed a token. A token that states another algorithm than the key's own is
    /// refused, because a token must not choose how it is verified.
    func hasSigned(_ token: IdentityToken) -> Bool {
        guard token.algorithm == algorithm else { return false }
        return switch material {
        case .rsa(let key): key.isValid(token.signature, for: token.signedBytes)
        case .p256(let key): key.isValid(token.signature, for: token.signedBytes)
        }
    }
}
