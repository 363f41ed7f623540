public import MartletHTTP
import MartletModel

/// A certificate authority's answer to one request. None of its content is trusted.
public struct ACMEAnswer: Hashable, Sendable {
    public var status: HTTPStatus
    /// The value of the field `replay-nonce`; nil if the field is missing, is too long or contains a character that
    /// Base64url does not use.
    public var nonce: String?
    /// The value of the field `location`; nil if the field is missing or is not an https URL.
    public var location: ACMEURL?
    /// The time that the authority asks the client to wait before the next request.
    public var retryAfter: Duration?
    public var body: [UInt8]

    private static let nonceLimit = 512
    private static let depthLimit = 16
    /// The maximum length of an answer that is read, in bytes.
    public static let lengthLimit = 256 * 1024

    public init(
        _ status: HTTPStatus, nonce: String? = nil, location: String? = nil, retryAfter: Duration? = nil,
        body: [UInt8] = []
    ) {
        self.status = status
        self.nonce = nonce.flatMap { Self.isToken($0, limit: Self.nonceLimit) ? $0 : nil }
        self.location = location.flatMap(ACMEURL.init)
        self.retryAfter = retryAfter
        self.body = body
    }

    /// The body as JSON; nil if it is too long or is not JSON.
    var document: JSON? {
        guard body.count <= Self.lengthLimit else { return nil }
        return try? JSON(parsing: body, maximumDepth: Self.depthLimit)
    }

    /// Returns true if a text consists of 1 to `limit` Base64url characters (RFC 8555, sections 6.5.1 and 8.3).
    static func isToken(_ text: String, limit: Int) -> Bool {
        (1...limit).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
    }
}
