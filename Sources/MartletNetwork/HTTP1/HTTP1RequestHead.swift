import MartletHTTP

/// The head of a request. Makes the checks that llhttp omits, and determines how the connection continues after the
/// head.
struct HTTP1RequestHead {
    enum Body: Hashable {
        case none
        case length(UInt64)
        case chunked
    }

    let request: HTTPRequest
    let body: Body
    let expectsContinue: Bool
    let keepsAlive: Bool
    let minorVersion: Int

    /// Checks a head that the parser has parsed.
    /// - Parameters:
    ///   - bytes: The bytes of the head.
    ///   - connection: The connection as presented to the handler.
    init(
        _ parser: HTTP1Parser, _ bytes: UnsafeRawBufferPointer, connection: HTTPConnection
    ) throws(HTTP1Refusal) {
        guard Self.isSingleSpaced(bytes, parser.target) else {
            throw .malformed("The first line of the request is not well formed.")
        }
        guard parser.majorVersion == 1, parser.minorVersion <= 1, Self.endsWithHTTP(bytes, parser.target) else {
            throw HTTP1Refusal(505, "This version of the protocol is not spoken here.")
        }
        var fields: [HTTPField] = []
        fields.reserveCapacity(parser.fields.count)
        for field in parser.fields {
            guard let name = Self.text(bytes, field.name), let value = Self.text(bytes, field.value) else {
                throw .malformed("The value of a header field is not UTF-8.")
            }
            fields.append(HTTPField(name, value.trimmingTrailingSpace()))
        }
        let all = HTTPFields(fields)
        guard all.values(of: "authorization").count <= 1 else {
            throw .malformed("The Authorization field is there more than once.")
        }
        minorVersion = parser.minorVersion
        body = try Self.body(parser, all)
        keepsAlive = parser.keepsAlive
        expectsContinue = try Self.expectsContinue(all, minorVersion: parser.minorVersion)
        let host = try Self.host(all, minorVersion: parser.minorVersion)
        let target = try Self.target(Self.text(bytes, parser.target) ?? "", host: host, method: parser.method)
        request = HTTPRequest(
            HTTPMethod(rawValue: parser.method), target, authority: host, fields: all, connection: connection)
    }

    /// Returns true if exactly one space precedes the target. llhttp would also accept several spaces.
    private static func isSingleSpaced(_ bytes: UnsafeRawBufferPointer, _ target: Range<Int>) -> Bool {
        target.lowerBound >= 2 && bytes[target.lowerBound - 1] == 0x20 && bytes[target.lowerBound - 2] != 0x20
    }

    /// Returns true if the target is followed by an HTTP version. llhttp would also accept the versions of RTSP and
    /// ICE.
    private static func endsWithHTTP(_ bytes: UnsafeRawBufferPointer, _ target: Range<Int>) -> Bool {
        let after = target.upperBound
        return after + 9 <= bytes.count && bytes[after..<(after + 8)].elementsEqual(" HTTP/1.".utf8)
    }

    /// Decodes text; nil if it is not UTF-8. ASCII is decoded without validation, for speed: most values are ASCII, and
    /// the standard library's generic validation is slow.
    private static func text(_ bytes: UnsafeRawBufferPointer, _ index: Range<Int>) -> String? {
        let text = UnsafeRawBufferPointer(rebasing: bytes[index])
        let isASCII = text.allSatisfy { $0 < 0x80 }
        return isASCII ? String(decoding: text, as: UTF8.self) : String(validating: text, as: UTF8.self)
    }

    private static func body(_ parser: HTTP1Parser, _ fields: HTTPFields) throws(HTTP1Refusal) -> Body {
        let encodings = fields.values(of: "transfer-encoding")
        let lengths = fields.values(of: "content-length")
        if !encodings.isEmpty {
            guard lengths.isEmpty else { throw .malformed("A length and a transfer coding contradict each other.") }
            guard parser.minorVersion == 1, encodings.count == 1, encodings[0].lowercased() == "chunked" else {
                throw .malformed("The only transfer coding that is understood is chunked, in HTTP/1.1.")
            }
            return .chunked
        }
        guard let length = lengths.first else { return .none }
        guard lengths.count == 1, length.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = UInt64(length) else {
            throw .malformed("The content length is not one number.")
        }
        return number == 0 ? .none : .length(number)
    }

    private static func expectsContinue(_ fields: HTTPFields, minorVersion: Int) throws(HTTP1Refusal) -> Bool {
        let expectations = fields.values(of: "expect")
        guard minorVersion == 1, let expectation = expectations.first else { return false }
        guard expectations.count == 1, expectation.lowercased() == "100-continue" else {
            throw HTTP1Refusal(417, "The only expectation that is met is 100-continue.")
        }
        return true
    }

    private static func host(_ fields: HTTPFields, minorVersion: Int) throws(HTTP1Refusal) -> String {
        let hosts = fields.values(of: "host")
        guard let host = hosts.first else {
            guard minorVersion == 0 else { throw .malformed("The Host field is missing.") }
            return ""
        }
        guard hosts.count == 1, HTTPOrigin("http://\(host)") != nil, !host.utf8.contains(UInt8(ascii: "/")) else {
            throw .malformed("The Host field is not one host.")
        }
        return host
    }

    private static func target(
        _ target: String, host: String, method: String
    ) throws(HTTP1Refusal) -> String {
        guard FieldRules.isVisible(target), !target.utf8.contains(UInt8(ascii: "#")) else {
            throw .malformed("The address of the request holds a character that is not allowed.")
        }
        if target.utf8.first == UInt8(ascii: "/") { return target }
        if target == "*", method == HTTPMethod.options.rawValue { return target }
        // The target is in absolute form, as sent to a proxy. A host that differs from the Host field is refused,
        // because it can mislead proxies.
        guard method != "CONNECT", let (origin, rest) = HTTPOrigin.splitting(target),
            let named = HTTPOrigin("\(origin.scheme.rawValue)://\(host)"), named == origin
        else { throw .malformed("The address of the request is neither a path nor an address of this host.") }
        return rest.utf8.first == UInt8(ascii: "/") ? rest : "/" + rest
    }
}
