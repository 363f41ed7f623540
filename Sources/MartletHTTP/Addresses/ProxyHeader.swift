/// The header of the PROXY protocol, in which a proxy states the client's address before the first byte of a
/// connection.
///
/// Versions 1 (text) and 2 (binary) of HAProxy's specification are supported.
public struct ProxyHeader: Hashable, Sendable {
    /// The maximum size of an accepted version 2 header in bytes, including addresses and additional fields (TLVs).
    public static let byteLimit = 4096
    /// The maximum length of a version 1 line in bytes, including its CR LF.
    private static let lineLimit = 107

    /// The source of the connection that the proxy forwards.
    public struct Client: Hashable, Sendable {
        public let address: IPAddress
        public let port: UInt16
    }

    /// The client; nil if the connection is the proxy's own, such as a health check, or if the proxy states no IP
    /// address of the client.
    public let client: Client?
    /// The length of the header in bytes. The client's data starts right after it.
    public let byteCount: Int

    /// The result of reading the first bytes of a connection.
    public enum Reading: Hashable, Sendable {
        case header(ProxyHeader)
        /// The bytes are the beginning of a header; more bytes are needed.
        case incomplete
        /// The bytes are not the beginning of a header, or the header violates the specification or is longer than
        /// `byteLimit`.
        case malformed
    }

    /// Reads a header from the beginning of a connection.
    /// - Parameter bytes: All bytes that have been received so far.
    public static func read(_ bytes: [UInt8]) -> Reading {
        if isPrefix(bytes, of: signature) { return readBinary(bytes) }
        if isPrefix(bytes, of: Array("PROXY ".utf8)) { return readLine(bytes) }
        return .malformed
    }

    /// Returns true if the two sequences are equal up to the end of the shorter one.
    private static func isPrefix(_ bytes: [UInt8], of start: [UInt8]) -> Bool {
        zip(bytes, start).allSatisfy { $0 == $1 }
    }

    // MARK: Version 1

    private static func readLine(_ bytes: [UInt8]) -> Reading {
        let line = bytes.prefix(lineLimit)
        guard let end = line.firstIndex(of: 0x0A) else { return line.count < lineLimit ? .incomplete : .malformed }
        guard end > 0, bytes[end - 1] == 0x0D else { return .malformed }
        let words = String(decoding: bytes[..<(end - 1)], as: UTF8.self)
            .split(separator: " ", omittingEmptySubsequences: false)
        // If the proxy does not know the client, the rest of the line has no meaning.
        if words.count >= 2, words[1] == "UNKNOWN" {
            return .header(ProxyHeader(client: nil, byteCount: end + 1))
        }
        guard words.count == 6, let length = ["TCP4": 4, "TCP6": 16][words[1]],
            addressBytes(words[2])?.count == length, addressBytes(words[3])?.count == length,
            let source = IPAddress(words[2]), let port = port(words[4]), self.port(words[5]) != nil
        else { return .malformed }
        return .header(ProxyHeader(client: Client(address: source, port: port), byteCount: end + 1))
    }

    /// Returns an array whose count tells in which form an address is written: 4 for IPv4, 16 for IPv6. Returns nil if
    /// the text is not an address, or has a zone.
    ///
    /// Only the count of the array has a meaning. For an IPv4-mapped IPv6 address the count is 16, although `IPAddress`
    /// stores the address as IPv4.
    private static func addressBytes(_ text: Substring) -> [UInt8]? {
        guard !text.contains("%"), let address = IPAddress(text) else { return nil }
        return text.contains(":") ? Array(repeating: 0, count: 16) : address.bytes
    }

    private static func port(_ text: Substring) -> UInt16? {
        guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return UInt16(text)
    }

    // MARK: Version 2

    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
    /// The length in bytes of the fixed part: signature, version and command, family and transport, and the length of
    /// the rest.
    private static let fixedLength = 16

    private static func readBinary(_ bytes: [UInt8]) -> Reading {
        guard bytes.count >= fixedLength else { return .incomplete }
        let rest = Int(bytes[14]) << 8 | Int(bytes[15])
        let (length, isLocal) = (fixedLength + rest, bytes[12] == 0x20)
        guard isLocal || bytes[12] == 0x21, length <= byteLimit else { return .malformed }
        // The length of one address. The source and destination addresses are followed by the two ports.
        let addressLength: Int? =
            switch bytes[13] {
            case 0x11: 4
            case 0x21: 16
            // The family is unspecified or a Unix socket. The header then has no address that could distinguish
            // clients.
            case 0x00, 0x31: 0
            default: isLocal ? 0 : nil
            }
        guard let addressLength, isLocal || rest >= 2 * addressLength + (addressLength > 0 ? 4 : 0) else {
            return .malformed
        }
        guard bytes.count >= length else { return .incomplete }
        let ports = fixedLength + 2 * addressLength
        guard !isLocal, addressLength > 0,
            let source = IPAddress(bytes: Array(bytes[fixedLength..<(fixedLength + addressLength)]))
        else { return .header(ProxyHeader(client: nil, byteCount: length)) }
        let port = UInt16(bytes[ports]) << 8 | UInt16(bytes[ports + 1])
        return .header(ProxyHeader(client: Client(address: source, port: port), byteCount: length))
    }
}
