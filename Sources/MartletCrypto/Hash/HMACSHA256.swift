import CMartletOpenSSL

/// HMAC with SHA-256 (RFC 2104) for one key, which is prepared only once. Thread-safe.
public struct HMACSHA256: Sendable, CustomStringConvertible {
    private let keyed: KeyedContext

    /// Prepares the key, which may have any length.
    ///
    /// Throws `CryptoError.failed` if OpenSSL is out of memory.
    public init(key: [UInt8]) throws(CryptoError) {
        keyed = try KeyedContext(key: key)
    }

    /// Returns the 32-byte authentication code of `message`.
    public func authenticationCode(for message: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard let context = EVP_MAC_CTX_dup(keyed.context) else { throw .failed(operation: "HMAC copy") }
        defer { EVP_MAC_CTX_free(context) }
        var code = [UInt8](repeating: 0, count: SHA256.byteCount)
        var length = 0
        guard EVP_MAC_update(context, message, message.count) == 1,
            EVP_MAC_final(context, &code, &length, code.count) == 1
        else { throw .failed(operation: "HMAC") }
        return code
    }

    /// Returns true if `code` is the authentication code of `message`. The comparison takes constant time.
    public func isValid(_ code: [UInt8], for message: [UInt8]) throws(CryptoError) -> Bool {
        ConstantTime.areEqual(try authenticationCode(for: message), code)
    }

    /// Returns the authentication code of one message, for a key that is used only once.
    public static func authenticationCode(for message: [UInt8], key: [UInt8]) throws(CryptoError) -> [UInt8] {
        try HMACSHA256(key: key).authenticationCode(for: message)
    }

    public var description: String { "HMACSHA256" }
}

// @unchecked Sendable because the context is only read after initialization: every computation uses a copy of it.
private final class KeyedContext: @unchecked Sendable {
    let context: OpaquePointer

    init(key: [UInt8]) throws(CryptoError) {
        guard let mac = EVP_MAC_fetch(nil, "HMAC", nil) else { throw .failed(operation: "HMAC fetch") }
        // The context keeps its own reference to the algorithm, so the reference `mac` can be released.
        defer { EVP_MAC_free(mac) }
        guard let context = EVP_MAC_CTX_new(mac) else { throw .failed(operation: "HMAC context") }
        self.context = context
        guard martlet_HMAC_SHA256_init(context, key, key.count) == 1 else { throw .failed(operation: "HMAC key") }
    }

    deinit { EVP_MAC_CTX_free(context) }
}
