/// A GOAWAY frame from the peer (RFC 9113, section 6.8).
struct HTTP2GoAway: Equatable {
    /// The last stream id that the peer may have processed. Requests on streams with higher ids were not processed.
    var lastStream: Int32
    var code: HTTP2ErrorCode
    /// The printable part of the debug data, truncated for use in an error message.
    var reason: String

    init(lastStream: Int32, code: HTTP2ErrorCode, debugData: some Sequence<UInt8>) {
        self.lastStream = lastStream
        self.code = code
        let printable = debugData.prefix(200).filter { (0x20..<0x7F).contains($0) }
        reason = String(decoding: printable, as: UTF8.self)
    }

    var description: String {
        let words = "the peer ended the connection with code \(code.rawValue)"
        return reason.isEmpty ? words : "\(words): \(reason)"
    }
}
