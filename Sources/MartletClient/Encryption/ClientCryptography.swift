/// The cryptographic primitives that end-to-end encryption is made of, so that an app uses its platform's own.
///
/// On Apple's platforms there is `CryptoKitCryptography`; elsewhere the product `MartletOpenSSL` has one on OpenSSL.
///
/// Private keys are bytes that only the implementation which made them understands. Both of these take the 32 bytes of
/// the key's number. One on the Secure Enclave would hand out what the enclave gives instead, which is of no use on any
/// other device; the rest of the SDK neither knows nor minds.
public protocol ClientCryptography: Sendable {
    /// Unpredictable bytes, fit for keys.
    func randomBytes(_ count: Int) throws(ClientCryptographyError) -> [UInt8]

    /// Makes a private key on the curve P-256.
    func makePrivateKey() throws(ClientCryptographyError) -> [UInt8]

    /// The public half of a private key: an uncompressed point of 65 bytes.
    func publicKey(of privateKey: [UInt8]) throws(ClientCryptographyError) -> [UInt8]

    /// Diffie-Hellman: the x-coordinate of the product, 32 bytes.
    /// - Throws: `ClientCryptographyError.malformedKey` where the public key is no uncompressed point of the curve.
    func sharedSecret(of privateKey: [UInt8], and publicKey: [UInt8]) throws(ClientCryptographyError) -> [UInt8]

    /// The SHA-256 digest, 32 bytes.
    func sha256(_ bytes: [UInt8]) throws(ClientCryptographyError) -> [UInt8]

    /// The code of HMAC with SHA-256, 32 bytes.
    func hmacSHA256(_ message: [UInt8], key: [UInt8]) throws(ClientCryptographyError) -> [UInt8]

    /// AES-128 in Galois/Counter mode: the ciphertext, and its tag of 16 bytes after it.
    /// - Parameters:
    ///   - key: 16 bytes.
    ///   - nonce: 12 bytes.
    func seal(_ plaintext: [UInt8], key: [UInt8], nonce: [UInt8]) throws(ClientCryptographyError) -> [UInt8]

    /// Opens what `seal` made.
    /// - Throws: `ClientCryptographyError.notAuthentic` where it is none of this key and nonce.
    func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) throws(ClientCryptographyError) -> [UInt8]
}

/// What a cryptographic primitive refuses or cannot do. Holds no key and no input.
public enum ClientCryptographyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A key or nonce of a wrong length, or a public key that is no point of the curve.
    case malformedKey
    /// The ciphertext was changed, is cut short, or was made with another key.
    case notAuthentic
    /// The library failed.
    case failed

    public var description: String {
        switch self {
        case .malformedKey: "This is no key that can be used."
        case .notAuthentic: "The ciphertext was changed, is cut short, or was made with another key."
        case .failed: "The system's cryptography failed."
        }
    }
}
