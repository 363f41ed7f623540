import Glibc

/// Why something of the network could not be set up: a listener, a context, a connection.
public struct NetworkError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: String, Hashable, Sendable {
        /// A call to the system failed.
        case system
        /// A name does not resolve.
        case unresolved
        /// Policy forbids the address.
        case forbidden
        /// A certificate, key or other TLS setting cannot be used.
        case configuration
        /// A TLS handshake failed: no trust, another name, no common protocol.
        case handshake
        /// It took too long.
        case timedOut
        /// The peer closed or broke the connection.
        case disconnected
    }

    public let kind: Kind
    /// What happened, for a person.
    public let detail: String
    /// The system's error number, where there is one.
    public let code: Int32?

    init(_ kind: Kind, _ detail: String, code: Int32? = nil) {
        self.kind = kind
        self.detail = detail
        self.code = code
    }

    public var description: String { detail }

    /// The error that a call to the system left behind.
    static func system(_ call: String, code: Int32 = errno) -> NetworkError {
        var text = [CChar](repeating: 0, count: 128)
        guard strerror_r(code, &text, text.count) == 0 else {
            return NetworkError(.system, "\(call): error \(code)", code: code)
        }
        let reason = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return NetworkError(.system, "\(call): \(reason)", code: code)
    }
}
