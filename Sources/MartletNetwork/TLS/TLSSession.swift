import CMartletOpenSSL
import Glibc

/// The TLS session of one connection, which reads from and writes to the socket directly.
///
/// Owned by the connection's loop.
final class TLSSession {
    enum Handshake {
        case done
        case wants(Readiness)
        case failed(NetworkError)
    }

    /// The maximum number of content bytes in one TLS record.
    static let recordBytes = 16 * 1024

    /// The maximum number of records in one read.
    ///
    /// Without this limit, a peer that sends one byte per record would block the loop for a long time.
    private static let recordsPerRead = 256

    private let session: OpaquePointer
    /// The context, kept alive because OpenSSL's callbacks use it for as long as the session lives.
    private let context: TLSContext
    /// The number of handshake messages, such as key updates, that have arrived since the start of the current read.
    private let messages = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
    private var hasSocket = false
    private var hasFailed = false
    private var isHandshakeDone = false
    /// True if writing can continue only after a read, because OpenSSL must first read a message, such as a key update
    /// from the peer.
    private(set) var isWriteBlockedOnRead = false

    init(serverOf context: TLSContext) throws(NetworkError) {
        session = try Self.make(context)
        self.context = context
        limitMessages()
        SSL_set_accept_state(session)
    }

    /// Creates the client side of a session.
    /// - Parameters:
    ///   - host: The name or address that the server's certificate must match.
    ///   - protocols: The protocols to offer with ALPN, in order of preference.
    init(clientOf context: TLSContext, host: String, protocols: [String]) throws(NetworkError) {
        session = try Self.make(context)
        self.context = context
        limitMessages()
        SSL_set_connect_state(session)
        if SocketAddress(address: host, port: 0) != nil {
            guard X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host) == 1
            else { throw .openSSL(.configuration, "verifying \(host)") }
        } else {
            // A wildcard matches only a whole label (RFC 9525, section 6.3).
            SSL_set_hostflags(session, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
            guard SSL_set1_host(session, host) == 1, martlet_SSL_set_tlsext_host_name(session, host) == 1
            else { throw .openSSL(.configuration, "verifying \(host)") }
        }
        let offer = protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        SSL_set_alpn_protos(session, offer, UInt32(offer.count))
    }

    deinit {
        SSL_free(session)
        messages.deallocate()
    }

    private func limitMessages() {
        messages.initialize(to: 0)
        martlet_SSL_limit_messages(session, messages)
    }

    private static func make(_ context: TLSContext) throws(NetworkError) -> OpaquePointer {
        guard let session = SSL_new(context.pointer) else { throw .openSSL(.configuration, "TLS") }
        return session
    }

    /// The protocol that ALPN selected, if any.
    var selectedProtocol: String? {
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(session, &start, &count)
        return start.map { String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self) }
    }

    /// The peer's certificate in DER form.
    var peerCertificate: [UInt8]? {
        guard let certificate = SSL_get1_peer_certificate(session) else { return nil }
        defer { X509_free(certificate) }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(certificate, &bytes)
        guard count > 0, let bytes else { return nil }
        defer { CRYPTO_free(bytes, nil, 0) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    /// True if OpenSSL holds unread input that it has already read from the socket. The socket reports no readiness for
    /// this input.
    var hasPending: Bool { SSL_has_pending(session) == 1 }

    func performHandshake(_ descriptor: Int32) -> Handshake {
        if !hasSocket {
            guard SSL_set_fd(session, descriptor) == 1 else { return .failed(.openSSL(.configuration, "TLS")) }
            hasSocket = true
        }
        ERR_clear_error()
        let result = SSL_do_handshake(session)
        if result == 1 {
            isHandshakeDone = true
            return .done
        }
        switch SSL_get_error(session, result) {
        case SSL_ERROR_WANT_READ: return .wants(.read)
        case SSL_ERROR_WANT_WRITE: return .wants(.write)
        default: return .failed(handshakeFailure())
        }
    }

    private func handshakeFailure() -> NetworkError {
        hasFailed = true
        let verdict = SSL_get_verify_result(session)
        if verdict != Int(X509_V_OK), let reason = X509_verify_cert_error_string(verdict) {
            ERR_clear_error()
            return NetworkError(.handshake, "the certificate is not trusted: \(String(cString: reason))")
        }
        if ERR_peek_error() == 0 {
            return NetworkError(.handshake, "the peer closed the connection during the TLS handshake")
        }
        return .openSSL(.handshake, "TLS handshake")
    }

    /// Reads the available records into the buffer, as long as the buffer has room for another record.
    /// - Returns: `.wouldBlock` if no record is available.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer {
        var filled = 0
        messages.pointee = 0
        var left = Self.recordsPerRead
        while filled == 0 || (left > 0 && hasPending && buffer.count - filled >= Self.recordBytes) {
            left -= 1
            ERR_clear_error()
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = SSL_read(session, room.baseAddress, Int32(room.count))
            guard messages.pointee <= UInt32(MARTLET_MESSAGES_PER_READ) else { return flooded() }
            guard count > 0 else { return filled > 0 ? .bytes(filled) : stopped(count) }
            isWriteBlockedOnRead = false
            filled += Int(count)
        }
        return .bytes(filled)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Socket.Transfer {
        ERR_clear_error()
        let count = SSL_write(session, bytes.baseAddress, Int32(clamping: bytes.count))
        if count > 0 { return .bytes(Int(count)) }
        isWriteBlockedOnRead = SSL_get_error(session, count) == SSL_ERROR_WANT_READ
        return stopped(count)
    }

    private func stopped(_ result: Int32) -> Socket.Transfer {
        let code = errno
        switch SSL_get_error(session, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wouldBlock
        case SSL_ERROR_ZERO_RETURN: return .ended
        case SSL_ERROR_SYSCALL:
            hasFailed = true
            ERR_clear_error()
            return .failed(code == 0 ? Self.cutOff : .system("TLS", code: code))
        default:
            hasFailed = true
            return .failed(.openSSL(.disconnected, "TLS"))
        }
    }

    private func flooded() -> Socket.Transfer {
        hasFailed = true
        return .failed(NetworkError(.disconnected, "the peer floods the connection with TLS messages"))
    }

    private static let cutOff = NetworkError(.disconnected, "the peer closed the connection without saying so")

    /// Sends close_notify to the peer.
    func shutDown() {
        guard isHandshakeDone, !hasFailed else { return }
        ERR_clear_error()
        SSL_shutdown(session)
        ERR_clear_error()
    }
}
