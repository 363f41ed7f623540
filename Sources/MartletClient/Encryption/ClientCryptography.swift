/// The cryptographic primitives for end-to-end encryption, so that an app can use its platform's own implementation.
///
/// On Apple's platforms there is `CryptoKitCryptography`; on other platforms, the product `MartletOpenSSL` provides an
/// implementation based on OpenSSL.
///
/// A private key is passed as bytes. Only the implementation that made the key understands these bytes. In both
/// existing implementations, they are the private scalar of the key, 32 bytes long. An implementation for the Secure
/// Enclave would instead return the enclave's key data, which is of no use on any other device. The rest of the SDK
/// does not depend on the format.
public protocol ClientCryptography: Sendable {
    /// Returns unpredictable bytes that are suitable for keys.
    func randomBytes(_ count: Int) throws(ClientCryptographyError) -> [UInt8]

    /// Makes a private key on the curve P-256.
    func makePrivateKey() throws(ClientCryptographyError) -> [UInt8]

    /// Returns the public key that belongs to a private key: an uncompressed point of 65 bytes.
    func publicKey(of privateKey: [UInt8]) throws(ClientCryptographyError) -> [UInt8]

    /// Returns the Diffie-Hellman shared secret of a private and a public key: the x-coordinate of their product, 32
    /// bytes.
    /// - Throws: `ClientCryptographyError.malformedKey` if the public key is not an uncompressed point of the curve.
    func sharedSecret(of privateKey: [UInt8], and publicKey: [UInt8]) throws(ClientCryptographyError) -> [UInt8]

    /// Returns the SHA-256 digest, 32 bytes.
    func sha256(_ bytes: [UInt8]) throws(ClientCryptographyError) -> [UInt8]

    /// Returns the HMAC-SHA-256 authentication code, 32 bytes.
    func hmacSHA256(_ message: [UInt8], key: [UInt8]) throws(ClientCryptographyError) -> [UInt8]

    /// Encrypts with AES-128 in Galois/Counter mode.
    /// - Returns: The ciphertext, followed by the authentication tag of 16 bytes.
    /// - Parameters:
    ///   - key: 16 bytes.
    ///   - nonce: 12 bytes.
    func seal(_ plaintext: [UInt8], key: [UInt8], nonce: [UInt8]) throws(ClientCryptographyError) -> [UInt8]

    /// Decrypts the output of `seal`.
    /// - Throws: `ClientCryptographyError.notAuthentic` if the data was not sealed with this key and nonce.
    func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) throws(ClientCryptographyError) -> [UInt8]
}

/// An error of a cryptographic primitive. Contains no key and no input.
public enum ClientCryptographyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A key or nonce has a wrong length, or a public key is not a point of the curve.
    case malformedKey
    /// The ciphertext was changed, is truncated, or was made with another key.
    case notAuthentic
    /// The cryptographic library failed.
    case failed

    public var description: String {
        switch self {
        case .malformedKey: "This is no key that can be used."
        case .notAuthentic: "The ciphertext was changed, is cut short, or was made with another key."
        case .failed: "The system's cryptography failed."
        }
    }
}
