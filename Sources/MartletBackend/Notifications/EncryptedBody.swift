import MartletCrypto
import MartletHTTP
import MartletModel

/// The body of a request with messages that a sender has encrypted for the devices of a user: `{"to", "message",
/// "expiresIn", "ciphertexts": [{"device", "fingerprint", "ciphertext"}]}`.
struct EncryptedBody: Sendable {
    /// A ciphertext that only one device can decrypt.
    struct Ciphertext: Sendable {
        /// The id of the device's registration.
        let device: String
        /// The fingerprint of the key with which the ciphertext was made.
        let fingerprint: [UInt8]
        /// The ciphertext: one record in the content coding `aes128gcm` (RFC 8188).
        let bytes: [UInt8]
    }

    let recipient: UserName
    /// The text that is shown if the message cannot be decrypted.
    let message: String
    let expiresIn: Duration
    let ciphertexts: [Ciphertext]

    /// The maximum size of the body in bytes, with room for the maximum number of ciphertexts in base64.
    static let sizeLimit = 9_000_000
    private static let ciphertextLimit = 65_536
    private static let messageLimit = 1000
    private static let stockMessage = "You have an encrypted message."
    private static let defaultLifetime: Int64 = 86_400

    init(_ request: HTTPRequest) throws(BackendError) {
        let body = try RequestBody(request)
        recipient = try UserName(recipient: try body.string("to"))
        message = try body.optionalString("message") ?? Self.stockMessage
        guard ShownText.isAllowed(message) else { throw .controlCharacters }
        guard !message.isEmpty else { throw body.refusal("has an empty \"message\": leave it out for a stock one.") }
        guard message.utf8.count <= Self.messageLimit else {
            throw .messageTooLarge(
                "The text that is shown in place of the encrypted message has at most \(Self.messageLimit) bytes.")
        }
        expiresIn = .seconds(try body.lifetime() ?? Self.defaultLifetime)
        var ciphertexts: [Ciphertext] = []
        for entry in try body.objects("ciphertexts", count: 1...DeviceKeyRoutes.deviceLimit) {
            ciphertexts.append(try Self.ciphertext(entry))
        }
        guard Set(ciphertexts.map(\.device)).count == ciphertexts.count else {
            throw .badBody("The member \"ciphertexts\" names a device twice.")
        }
        self.ciphertexts = ciphertexts
    }

    /// The whole content of the request, from which the request's digest is computed.
    var content: DigestInput {
        var content = DigestInput()
        for part in [recipient.folded, message, "\(expiresIn)"] { content.append(part) }
        for ciphertext in ciphertexts {
            content.append(ciphertext.device)
            content.append(ciphertext.fingerprint)
            content.append(ciphertext.bytes)
        }
        return content
    }

    private static func ciphertext(_ entry: RequestBody) throws(BackendError) -> Ciphertext {
        guard let fingerprint = Base64URL.decode(try entry.string("fingerprint")),
            fingerprint.count == SHA256.byteCount
        else {
            throw entry.refusal("needs as \"fingerprint\" a SHA-256 in base64url without padding.")
        }
        guard let bytes = Base64.decode(try entry.string("ciphertext")), isRecord(bytes) else {
            throw entry.refusal("needs as \"ciphertext\" one record of aes128gcm (RFC 8291) in base64.")
        }
        guard bytes.count <= ciphertextLimit else {
            throw .messageTooLarge("A ciphertext has at most \(ciphertextLimit) bytes.")
        }
        return Ciphertext(device: try entry.string("device"), fingerprint: fingerprint, bytes: bytes)
    }

    /// Returns whether a device can open the ciphertext, which must be a single record with the sender's key in its
    /// header.
    private static func isRecord(_ bytes: [UInt8]) -> Bool {
        guard let content = EncryptedContent(bytes), content.isSingleRecord else { return false }
        return P256PublicKey.isValid(rawPoint: content.keyID)
    }
}
