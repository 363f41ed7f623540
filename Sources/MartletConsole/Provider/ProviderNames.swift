import MartletCore
import MartletCrypto
import MartletOpenIDConnect

/// Names for an operator whom an identity provider has authenticated.
///
/// People choose their names at many providers. So a name is only what is shown: it never makes somebody the operator who
/// has it already, and it has only the characters of every operator's name.
enum ProviderNames {
    private static let lengthLimit = 64
    /// The number of hexadecimal digits that tell apart two people with one name.
    private static let digits = 12
    private static let fallback = "operator"

    /// Returns the names in the order in which they are tried: the person's own, and then with digits of a hash of the
    /// identity, which another person cannot have.
    static func names(for identity: OperatorIdentity, _ claims: IdentityClaims) -> [String] {
        let address = claims.isAddressVerified ? claims.text("email") : nil
        let base = [claims.text("preferred_username"), address].compactMap { $0.flatMap(cleaned) }.first
        let hash = Hex.encode(SHA256.hash(Array("\(identity.issuer)\0\(identity.subject)".utf8)))
        let distinct = String((base ?? fallback).prefix(lengthLimit - digits - 1)) + "-" + hash.prefix(digits)
        return [base, distinct].compactMap(\.self)
    }

    /// Returns a name with its other characters left out; nil if nothing of it can be used.
    private static func cleaned(_ text: String) -> String? {
        let characters = text.unicodeScalars.prefix(1000).filter { scalar in
            scalar.isASCII && Operator.isName("a\(scalar)")
        }
        let name = String(String.UnicodeScalarView(characters.drop { !Operator.isName("\($0)") }.prefix(lengthLimit)))
        return Operator.isName(name) ? name : nil
    }
}
