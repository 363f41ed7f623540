import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// The value of `Idempotency-Key`, bound to the caller and the route. The caller uses it for one request only and
/// repeats it with each attempt of that request.
struct IdempotencyKey: Sendable {
    /// The digest under which the request is recorded.
    let digest: [UInt8]

    /// Reads the key of a request.
    /// - Returns: nil if the request has no key; each attempt then counts as a new request.
    init?(_ request: HTTPRequest, of caller: Caller, on route: String) throws(BackendError) {
        let values = request.fields.values(of: "idempotency-key")
        guard let value = values.first else { return nil }
        guard values.count == 1, (1...255).contains(value.utf8.count),
            value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw .badIdempotencyKey }
        var input = DigestInput()
        input.append("app backend")
        input.append(caller.name.folded)
        // A new user with the name of a removed one is another person, whose keys are other keys.
        if let createdAt = caller.accountCreatedAt { input.append(String(createdAt.milliseconds)) }
        input.append(route)
        input.append(value)
        digest = SHA256.hash(input.bytes)
    }

    /// Returns the identity of the request with this key.
    /// - Parameter content: The whole content of the request.
    func identity(of content: DigestInput) -> RequestIdentity {
        RequestIdentity(key: digest, fingerprint: SHA256.hash(content.bytes))
    }
}

extension SendRecord {
    /// Returns the identity by which one push of the send is recognized when it is repeated. The identity contains the
    /// start time of this record. So a later record with the same key, made after this record has expired, sends the
    /// push again.
    func identity(ofPush name: String) -> RequestIdentity {
        var input = DigestInput()
        input.append(request.key)
        input.append(String(startedAt.milliseconds))
        input.append(name)
        return RequestIdentity(key: SHA256.hash(input.bytes), fingerprint: request.fingerprint)
    }
}
