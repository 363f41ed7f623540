import MartletCore
import MartletCrypto

extension DeviceKey {
    /// Reads a key in the form that devices send: base64url.
    init(publicKey: String, authSecret: String) throws(BackendError) {
        guard let point = Base64URL.decode(publicKey), P256PublicKey.isValid(rawPoint: point) else {
            throw .badKey("PublicKey must be an uncompressed point of P-256, 65 bytes in base64url without padding.")
        }
        guard let secret = Base64URL.decode(authSecret), secret.count == Self.authSecretByteCount else {
            throw .badKey("AuthSecret must be \(Self.authSecretByteCount) bytes in base64url without padding.")
        }
        self.init(publicKey: point, authSecret: secret)
    }

    private static let authSecretByteCount = 16

    /// The fingerprint with which senders name the key: the SHA-256 hash of the public key followed by the secret.
    var fingerprint: [UInt8] { SHA256.hash(publicKey + authSecret) }
}
