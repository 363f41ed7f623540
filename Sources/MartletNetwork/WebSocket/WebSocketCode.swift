/// The close codes of a WebSocket (RFC 6455, section 7.4.1).
enum WebSocketCode {
    static let normal: UInt16 = 1000
    static let goingAway: UInt16 = 1001
    static let protocolError: UInt16 = 1002
    static let invalidText: UInt16 = 1007
    static let tooLarge: UInt16 = 1009

    /// Returns true if the code may be sent.
    ///
    /// A few codes are reserved to report that no code was received.
    static func isSendable(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
