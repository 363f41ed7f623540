import MartletModel

/// Writes the events of a stream (WHATWG HTML, section 9.2.6).
enum ServerSentEvent {
    static func bytes(_ name: String, _ data: JSON) -> [UInt8] {
        // The JSON text fits on one `data` line: it has line ends only in strings, where they are escaped.
        Array("event: \(name)\ndata: ".utf8) + data.bytes + [0x0A, 0x0A]
    }

    /// A comment line, sent regularly so that proxies do not close an idle connection.
    static let comment = Array(":\n\n".utf8)
    /// Makes a browser wait two seconds before it reopens a lost stream.
    static let retry = Array("retry: 2000\n\n".utf8)
}
