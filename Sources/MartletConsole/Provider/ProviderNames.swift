import MartletCore
import MartletCrypto
import MartletOpenIDConnect

/// Chooses the name of an operator whom an identity provider has authenticated.
///
/// At many providers, people choose their names themselves. So the name is only for display: it never identifies the
/// person as an existing operator. It contains only characters that are allowed in the names of operators.
enum ProviderNames {
    private static let lengthLimit = 64
    /// The number of hexadecimal digits that distinguish two people with the same name.
    private static let digits = 12
    private static let fallback = "operator"

    /// Returns the names to try, in order: the person's own name, then this name with digits of a hash of the identity.
    /// The digits differ from person to person.
    static func names(for identity: OperatorIdentity, _ claims: IdentityClaims) -> [String] {
        let address = claims.isAddressVerified ? claims.text("email") : nil
        let base = [claims.text("preferred_username"), address].compactMap { $0.flatMap(cleaned) }.first
        let hash = Hex.encode(SHA256.hash(Array("\(identity.issuer)\0\(identity.subject)".utf8)))
        let distinct = String((base ?? fallback).prefix(lengthLimit - digits - 1)) + "-" + hash.prefix(digits)
        return [base, distinct].compactMap(\.self)
    }

    /// Returns the text without the characters that are not allowed in a name; nil if no valid name remains.
    private static func cleaned(_ text: String) -> String? {
        let characters = text.unicodeScalars.prefix(1000).filter { scalar in
            scalar.isASCII && Operator.isName("a\(scalar)")
        }
        let name = String(String.UnicodeScalarView(characters.drop { !Operator.isName("\($0)") }.prefix(lengthLimit)))
        return Operator.isName(name) ? name : nil
    }
}
