/// The fields that a server reads from the first message of a TLS client (RFC 8446, section 4.1.2) before it chooses a
/// certificate.
struct ClientHello: Hashable {
    /// The host name that the client wants to reach, in lower case (RFC 6066, section 3); nil if the client sends none.
    let host: String?
    /// True if the client is a certificate authority that validates a challenge. Such a client offers only the protocol
    /// `acme-tls/1` (RFC 8737, section 3).
    let isChallenge: Bool

    /// Reads the fields from two extensions of the message.
    /// - Parameters:
    ///   - serverName: The content of the extension `server_name`; nil if it is absent.
    ///   - protocols: The content of the extension `application_layer_protocol_negotiation`; nil if it is absent.
    init(serverName: [UInt8]?, protocols: [UInt8]?) {
        host = serverName.flatMap(Self.host)
        isChallenge = protocols.map { $0.elementsEqual(Self.challengeOffer) } ?? false
    }

    static let challengeProtocol = "acme-tls/1"

    /// The protocol list that a validating authority offers: the length of the list, the length of its only name, and
    /// the name.
    private static let challengeOffer =
        [0, UInt8(challengeProtocol.utf8.count + 1), UInt8(challengeProtocol.utf8.count)]
        + Array(challengeProtocol.utf8)

    /// Returns the first host name in the content of a `server_name` extension, in lower case; nil if the first entry
    /// is of another type or malformed.
    private static func host(_ bytes: [UInt8]) -> String? {
        guard bytes.count > 5, bytes[2] == 0 else { return nil }
        let length = Int(bytes[3]) << 8 | Int(bytes[4])
        guard (1...255).contains(length), bytes.count >= 5 + length else { return nil }
        return String(decoding: bytes[5..<(5 + length)], as: UTF8.self).lowercased()
    }
}
