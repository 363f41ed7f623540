import Glibc

/// The error that prevented the set-up of a listener, a TLS context or a connection, or that ended a connection.
public struct NetworkError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: String, Hashable, Sendable {
        /// A system call failed.
        case system
        /// A name does not resolve.
        case unresolved
        /// The policy does not allow connections to the address.
        case forbidden
        /// A certificate, key or other TLS setting cannot be used.
        case configuration
        /// A TLS handshake failed: the certificate is untrusted, the host name is wrong, or there is no common
        /// protocol.
        case handshake
        /// The operation took too long.
        case timedOut
        /// The peer closed or broke the connection.
        case disconnected
    }

    public let kind: Kind
    /// The description of the error, for people.
    public let detail: String
    /// The system's error number (`errno`); nil if there is none.
    public let code: Int32?

    init(_ kind: Kind, _ detail: String, code: Int32? = nil) {
        self.kind = kind
        self.detail = detail
        self.code = code
    }

    public var description: String { detail }

    /// The system's message for a failed system call, without the name of the call; otherwise the whole detail. It is for
    /// a sentence that names the listener itself.
    public var reason: String { kind == .system ? code.flatMap(Self.message) ?? detail : detail }

    /// Creates the error of a failed system call. Its detail is the name of the call and the system's message for
    /// `code`.
    static func system(_ call: String, code: Int32 = errno) -> NetworkError {
        NetworkError(.system, "\(call): \(message(of: code) ?? "error \(code)")", code: code)
    }

    private static func message(of code: Int32) -> String? {
        var text = [CChar](repeating: 0, count: 128)
        guard strerror_r(code, &text, text.count) == 0 else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
