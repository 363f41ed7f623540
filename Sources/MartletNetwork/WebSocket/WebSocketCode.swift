/// The close codes of a WebSocket (RFC 6455, section 7.4.1).
enum WebSocketCode {
    static let normal: UInt16 = 1000
    static let goingAway: UInt16 = 1001
    static let protocolError: UInt16 = 1002
    static let invalidText: UInt16 = 1007
    static let tooLarge: UInt16 = 1009

    /// Returns true if the code may be sent.
    ///
    /// The codes 1005, 1006 and 1015 are never sent. A program uses them only to report that a connection ended without
    /// a code.
    static func isSendable(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
