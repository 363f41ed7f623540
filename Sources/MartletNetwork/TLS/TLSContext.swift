import CMartletOpenSSL

/// An OpenSSL context: the settings for the TLS sessions of a client or a server.
///
/// @unchecked Sendable because the context is not changed after `init`, and OpenSSL allows any thread to create
/// sessions from a context.
final class TLSContext: @unchecked Sendable {
    let pointer: OpaquePointer
    private let challenges: TLSChallenges?
    /// False for a server that has no certificate yet and therefore only answers challenges.
    fileprivate let hasIdentity: Bool

    /// Creates a context for a server.
    /// - Parameters:
    ///   - identity: The certificate and key; nil if there is no certificate yet. Without a certificate, every
    ///     handshake is refused unless the client validates a challenge.
    ///   - challenges: The certificates for `acme-tls/1`; nil for a server that never answers challenges.
    init(
        server identity: TLSIdentity?, requestsClientCertificate: Bool, challenges: TLSChallenges? = nil
    ) throws(NetworkError) {
        pointer = try Self.make(TLS_server_method())
        self.challenges = challenges
        hasIdentity = identity != nil
        if let identity { try use(identity) }
        SSL_CTX_set_alpn_select_cb(pointer, selectProtocol, nil)
        if challenges != nil {
            // OpenSSL gets an unretained pointer to this object. Every session of this context keeps the object alive
            // (`TLSSession.context`).
            SSL_CTX_set_client_hello_cb(pointer, readClientHello, Unmanaged.passUnretained(self).toOpaque())
        }
        if requestsClientCertificate {
            let context = Array("martlet".utf8)
            SSL_CTX_set_session_id_context(pointer, context, UInt32(context.count))
            // The client's certificate is requested and passed to the handler. The handler decides whether to accept
            // the certificate. The chain is not verified here.
            SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, acceptAnyCertificate)
        }
    }

    /// Creates a context that answers one challenge of a certificate authority.
    init(challenge identity: TLSIdentity) throws(NetworkError) {
        pointer = try Self.make(TLS_server_method())
        challenges = nil
        hasIdentity = true
        try use(identity)
        SSL_CTX_set_alpn_select_cb(pointer, selectChallenge, nil)
    }

    /// Creates a context for a client.
    /// - Parameter trustedPEM: The certificates to trust, in PEM form; nil to trust the certificates of the system.
    init(client identity: TLSIdentity?, trustedPEM: String?) throws(NetworkError) {
        pointer = try Self.make(TLS_client_method())
        challenges = nil
        hasIdentity = identity != nil
        SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
        if let identity { try use(identity) }
        if let trustedPEM {
            try trust(trustedPEM)
        } else {
            SSL_CTX_set_default_verify_paths(pointer)
        }
    }

    deinit {
        SSL_CTX_free(pointer)
    }

    /// Returns the context that answers a client; nil if the client is refused.
    fileprivate func context(for hello: ClientHello) -> TLSContext? {
        guard hello.isChallenge else { return hasIdentity ? self : nil }
        return hello.host.flatMap { challenges?.context(for: $0) }
    }

    private static func make(_ method: OpaquePointer?) throws(NetworkError) -> OpaquePointer {
        guard let pointer = SSL_CTX_new(method) else { throw .openSSL(.configuration, "TLS") }
        martlet_SSL_CTX_set_options_hardened(pointer)
        _ = martlet_SSL_CTX_set_min_proto_version(pointer, TLS1_2_VERSION)
        // For TLS 1.2, only cipher suites that HTTP/2 does not prohibit are offered (RFC 9113, appendix A).
        SSL_CTX_set_cipher_list(pointer, "ECDHE+AESGCM:ECDHE+CHACHA20")
        let modes =
            SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS
        _ = martlet_SSL_CTX_set_mode(pointer, Int(modes))
        martlet_SSL_CTX_set_read_ahead(pointer, 1)
        SSL_CTX_set_default_read_buffer_len(pointer, 64 * 1024)
        return pointer
    }

    private func use(_ identity: TLSIdentity) throws(NetworkError) {
        let pointer = pointer
        var isFirst = true
        let count = try PEMReader.forEachCertificate(in: identity.certificatesPEM) {
            certificate throws(NetworkError) in
            let result =
                isFirst
                ? SSL_CTX_use_certificate(pointer, certificate.pointer)
                : Int32(martlet_SSL_CTX_add1_chain_cert(pointer, certificate.pointer))
            guard result == 1 else { throw .openSSL(.configuration, "the certificate cannot be used") }
            isFirst = false
        }
        guard count > 0 else { throw NetworkError(.configuration, "there is no certificate in the PEM text") }
        let key = try PEMReader.privateKey(in: identity.privateKeyPEM)
        guard SSL_CTX_use_PrivateKey(pointer, key.pointer) == 1, SSL_CTX_check_private_key(pointer) == 1 else {
            throw .openSSL(.configuration, "the private key does not belong to the certificate")
        }
    }

    private func trust(_ text: String) throws(NetworkError) {
        guard let store = SSL_CTX_get_cert_store(pointer) else { throw .openSSL(.configuration, "TLS") }
        let count = try PEMReader.forEachCertificate(in: text) { certificate throws(NetworkError) in
            guard X509_STORE_add_cert(store, certificate.pointer) == 1 else {
                throw .openSSL(.configuration, "a trusted certificate cannot be used")
            }
        }
        guard count > 0 else { throw NetworkError(.configuration, "there is no certificate to trust in the PEM text") }
        // Certificates named by the operator are trusted even if they are not roots.
        X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN))
    }
}

/// Chooses the context of a new session before OpenSSL uses the session's certificate.
private func readClientHello(
    _ session: OpaquePointer?, _ alert: UnsafeMutablePointer<Int32>?, _ owner: UnsafeMutableRawPointer?
) -> Int32 {
    guard let owner else { return SSL_CLIENT_HELLO_ERROR }
    let context = Unmanaged<TLSContext>.fromOpaque(owner).takeUnretainedValue()
    let hello = ClientHello(
        serverName: helloExtension(session, TLSEXT_TYPE_server_name),
        protocols: helloExtension(session, TLSEXT_TYPE_application_layer_protocol_negotiation))
    guard let chosen = context.context(for: hello) else {
        alert?.pointee = hello.isChallenge ? SSL_AD_NO_APPLICATION_PROTOCOL : SSL_AD_UNRECOGNIZED_NAME
        return SSL_CLIENT_HELLO_ERROR
    }
    if chosen !== context, SSL_set_SSL_CTX(session, chosen.pointer) == nil { return SSL_CLIENT_HELLO_ERROR }
    return SSL_CLIENT_HELLO_SUCCESS
}

private func helloExtension(_ session: OpaquePointer?, _ type: Int32) -> [UInt8]? {
    var start: UnsafePointer<UInt8>?
    var count = 0
    guard SSL_client_hello_get0_ext(session, UInt32(type), &start, &count) == 1 else { return nil }
    return Array(UnsafeBufferPointer(start: start, count: count))
}

private func acceptAnyCertificate(_ isValid: Int32, _ context: OpaquePointer?) -> Int32 { 1 }

/// Selects h2 in preference to http/1.1. A client that offers neither is refused (RFC 7301, section 3.2).
private func selectProtocol(
    _ session: OpaquePointer?, _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ selectedLength: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ offeredLength: UInt32,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    select(["h2", "http/1.1"], selected, selectedLength, offered, offeredLength)
}

/// Selects the challenge protocol. A client that validates a challenge offers no other protocol (RFC 8737, section 3).
private func selectChallenge(
    _ session: OpaquePointer?, _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ selectedLength: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ offeredLength: UInt32,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    select([ClientHello.challengeProtocol], selected, selectedLength, offered, offeredLength)
}

private func select(
    _ names: [String], _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ selectedLength: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ offeredLength: UInt32
) -> Int32 {
    for wanted in names {
        var position = 0
        while let offered, position < Int(offeredLength) {
            let length = Int(offered[position])
            let name = UnsafeBufferPointer(start: offered + position + 1, count: length)
            if position + 1 + length <= Int(offeredLength), name.elementsEqual(wanted.utf8) {
                selected?.pointee = offered + position + 1
                selectedLength?.pointee = UInt8(length)
                return SSL_TLSEXT_ERR_OK
            }
            position += 1 + length
        }
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}
