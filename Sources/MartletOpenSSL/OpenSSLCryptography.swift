public import MartletClient
import MartletCrypto

/// The cryptographic primitives of end-to-end encryption, implemented with OpenSSL 3 for systems without CryptoKit.
///
/// A private key is represented by its scalar of 32 bytes.
public struct OpenSSLCryptography: ClientCryptography {
    /// Creates an instance, which has no state.
    public init() {}

    public func randomBytes(_ count: Int) -> [UInt8] { RandomBytes.generate(count) }

    public func makePrivateKey() throws(ClientCryptographyError) -> [UInt8] {
        try translated { () throws(CryptoError) in try P256PrivateKey.generate().rawScalar().bytes }
    }

    public func publicKey(of privateKey: [UInt8]) throws(ClientCryptographyError) -> [UInt8] {
        try translated { () throws(CryptoError) in try P256PrivateKey(rawScalar: privateKey).publicKey.rawPoint }
    }

    public func sharedSecret(
        of privateKey: [UInt8], and publicKey: [UInt8]
    ) throws(ClientCryptographyError) -> [UInt8] {
        try translated { () throws(CryptoError) in
            try P256PrivateKey(rawScalar: privateKey).sharedSecret(with: publicKey)
        }
    }

    public func sha256(_ bytes: [UInt8]) -> [UInt8] { SHA256.hash(bytes) }

    public func hmacSHA256(_ message: [UInt8], key: [UInt8]) throws(ClientCryptographyError) -> [UInt8] {
        try translated { () throws(CryptoError) in try HMACSHA256.authenticationCode(for: message, key: key) }
    }

    public func seal(
        _ plaintext: [UInt8], key: [UInt8], nonce: [UInt8]
    ) throws(ClientCryptographyError) -> [UInt8] {
        try translated { () throws(CryptoError) in try AES128GCM.seal(plaintext, key: key, nonce: nonce) }
    }

    public func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) throws(ClientCryptographyError) -> [UInt8] {
        try translated { () throws(CryptoError) in try AES128GCM.open(sealed, key: key, nonce: nonce) }
    }

    private func translated<Value>(
        _ work: () throws(CryptoError) -> Value
    ) throws(ClientCryptographyError) -> Value {
        do throws(CryptoError) {
            return try work()
        } catch {
            switch error {
            case .malformedPrivateKey, .malformedPublicKey, .wrongKeyKind, .wrongLength: throw .malformedKey
            case .authenticationFailed: throw .notAuthentic
            default: throw .failed
            }
        }
    }
}
