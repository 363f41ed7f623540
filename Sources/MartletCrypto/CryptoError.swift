/// An error of a cryptographic operation. No case contains key material or input.
public enum CryptoError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The text or bytes are not a private key that this package can read, or the key is protected by a password.
    case malformedPrivateKey
    /// The text or bytes are not a public key that this package can read, or the point is not on the curve.
    case malformedPublicKey
    /// The operation needs a different kind of key; `expected` names that kind.
    case wrongKeyKind(expected: String)
    /// A key, nonce or secret has the wrong length, or an input or output is longer than allowed. In the second case,
    /// `expected` is the maximum. Lengths are in bytes.
    case wrongLength(expected: Int, actual: Int)
    /// The text or bytes contain no readable certificate.
    case malformedCertificate
    /// The text has more certificates than `limit`.
    case tooManyCertificates(limit: Int)
    /// The bytes are not a PKCS#12 container.
    case malformedPKCS12
    /// The password of the PKCS#12 container is wrong.
    case wrongPassword
    /// The certificate and the private key do not belong together, or one of them is missing.
    case incompleteIdentity
    /// The name is not valid in a certificate.
    case invalidName(String)
    /// The ciphertext was changed, is too short, or belongs to another key or to other associated data.
    case authenticationFailed
    /// OpenSSL or Argon2 reported an error; `operation` names the step.
    case failed(operation: String)

    public var description: String {
        switch self {
        case .malformedPrivateKey:
            "This is not a private key in PKCS#8 form without a password; give the .p8 or .pem file as it was issued."
        case .malformedPublicKey:
            "This is not a valid public key; give a PEM block \"PUBLIC KEY\" or an uncompressed curve point."
        case .wrongKeyKind(let expected): "This key is of the wrong kind; expected \(expected)."
        case .wrongLength(let expected, let actual): "Expected \(expected) bytes, got \(actual)."
        case .malformedCertificate: "This is not a certificate; give a PEM block \"CERTIFICATE\" or its DER bytes."
        case .tooManyCertificates(let limit):
            "There are more than \(limit) certificates; give only the certificate and those of its issuers."
        case .malformedPKCS12: "This is not a PKCS#12 container (.p12 or .pfx)."
        case .wrongPassword: "The container does not open with this password."
        case .incompleteIdentity: "A certificate and the private key that belongs to it are needed, both in one input."
        case .invalidName(let name): "\"\(name)\" cannot stand in a certificate; give a DNS name or an IP address."
        case .authenticationFailed: "The sealed bytes do not open: changed, cut short, or sealed with another key."
        case .failed(let operation): "The cryptographic library failed: \(operation)."
        }
    }
}
