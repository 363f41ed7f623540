import MartletModel

/// An event of a stream (WHATWG HTML, section 9.2.6).
enum ServerSentEvent {
    static func bytes(_ name: String, _ data: JSON) -> [UInt8] {
        // JSON has no line ends outside its strings, where they are escaped.
        Array("event: \(name)\ndata: ".utf8) + data.bytes + [0x0A, 0x0A]
    }

    /// Keeps the connection open through proxies.
    static let comment = Array(":\n\n".utf8)
    /// Makes a browser wait two seconds before it opens a lost stream again.
    static let retry = Array("retry: 2000\n\n".utf8)
}
