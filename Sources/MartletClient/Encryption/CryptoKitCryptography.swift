#if canImport(CryptoKit)
import CryptoKit

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The primitives of end-to-end encryption, implemented with Apple's CryptoKit.
///
/// A private key is passed as its private scalar, 32 bytes long, so that it can be kept in the keychain and used in a
/// notification service extension while the device is locked.
public struct CryptoKitCryptography: ClientCryptography {
    public init() {}

    public func randomBytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    public func makePrivateKey() -> [UInt8] { Array(P256.KeyAgreement.PrivateKey().rawRepresentation) }

    public func publicKey(of privateKey: [UInt8]) throws(ClientCryptographyError) -> [UInt8] {
        Array(try key(privateKey).publicKey.x963Representation)
    }

    public func sharedSecret(
        of privateKey: [UInt8], and publicKey: [UInt8]
    ) throws(ClientCryptographyError) -> [UInt8] {
        let key = try key(privateKey)
        guard publicKey.count == DeviceKey.publicKeyByteCount,
            let peer = try? P256.KeyAgreement.PublicKey(x963Representation: publicKey),
            let secret = try? key.sharedSecretFromKeyAgreement(with: peer)
        else { throw .malformedKey }
        return secret.withUnsafeBytes { Array($0) }
    }

    public func sha256(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

    public func hmacSHA256(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key)))
    }

    public func seal(
        _ plaintext: [UInt8], key: [UInt8], nonce: [UInt8]
    ) throws(ClientCryptographyError) -> [UInt8] {
        let nonce = try check(key, nonce)
        guard let box = try? AES.GCM.seal(plaintext, using: SymmetricKey(data: key), nonce: nonce) else {
            throw .failed
        }
        return Array(box.ciphertext) + Array(box.tag)
    }

    public func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) throws(ClientCryptographyError) -> [UInt8] {
        let nonce = try check(key, nonce)
        guard sealed.count >= MessageCoding.tagByteCount,
            let box = try? AES.GCM.SealedBox(
                nonce: nonce, ciphertext: sealed.dropLast(MessageCoding.tagByteCount),
                tag: sealed.suffix(MessageCoding.tagByteCount)),
            let plaintext = try? AES.GCM.open(box, using: SymmetricKey(data: key))
        else { throw .notAuthentic }
        return Array(plaintext)
    }

    private func key(_ bytes: [UInt8]) throws(ClientCryptographyError) -> P256.KeyAgreement.PrivateKey {
        guard let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: bytes) else { throw .malformedKey }
        return key
    }

    private func check(_ key: [UInt8], _ nonce: [UInt8]) throws(ClientCryptographyError) -> AES.GCM.Nonce {
        guard key.count == MessageCoding.keyByteCount, nonce.count == MessageCoding.nonceByteCount,
            let nonce = try? AES.GCM.Nonce(data: nonce)
        else { throw .malformedKey }
        return nonce
    }
}
#endif
