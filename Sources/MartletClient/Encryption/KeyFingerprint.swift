/// A digest that identifies a device's key: the SHA-256 digest of the public key followed by the authentication secret.
///
/// People compare the text of a fingerprint, over the telephone or side by side. The text has eight groups of five
/// digits, each derived from four bytes of the digest. Finding a key with the same text as another key would take about
/// 2¹³² attempts.
public struct KeyFingerprint: Hashable, Sendable, CustomStringConvertible {
    /// The digest, 32 bytes.
    public let bytes: [UInt8]

    /// Creates a fingerprint; nil if there are not exactly 32 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Computes the fingerprint of a device's key.
    public init(of key: DeviceKey, _ cryptography: any ClientCryptography) throws(ClientCryptographyError) {
        guard let fingerprint = KeyFingerprint(bytes: try cryptography.sha256(key.publicKey + key.authSecret)) else {
            throw .failed
        }
        self = fingerprint
    }

    /// The fingerprint as eight groups of digits: `12345 67890 …`.
    public var description: String {
        stride(from: 0, to: bytes.count, by: 4).map { start in
            let group = bytes[start..<(start + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } % 100_000
            let digits = String(group)
            return String(repeating: "0", count: 5 - digits.count) + digits
        }.joined(separator: " ")
    }

    /// The fingerprint in URL-safe Base64, for requests and for files.
    var text: String { Base64.urlSafe.encode(bytes) }

    init?(text: String) {
        guard let bytes = Base64.urlSafe.decode(text) else { return nil }
        self.init(bytes: bytes)
    }
}
