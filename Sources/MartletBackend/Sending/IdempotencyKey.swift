import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// What a caller promises to use for one request only and repeats with each attempt of it: `Idempotency-Key`, bound to the
/// caller and the route.
struct IdempotencyKey: Sendable {
    /// What the request is recorded by.
    let digest: [UInt8]

    /// - Returns: nil where the request has none, so that each attempt is another request.
    init?(_ request: HTTPRequest, of caller: Caller, on route: String) throws(BackendError) {
        let values = request.fields.values(of: "idempotency-key")
        guard let value = values.first else { return nil }
        guard values.count == 1, (1...255).contains(value.utf8.count),
            value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw .badIdempotencyKey }
        var input = DigestInput()
        input.append("app backend")
        input.append(caller.name.folded)
        input.append(route)
        input.append(value)
        digest = SHA256.hash(input.bytes)
    }

    /// - Parameter content: All that the request says.
    func identity(of content: DigestInput) -> RequestIdentity {
        RequestIdentity(key: digest, fingerprint: SHA256.hash(content.bytes))
    }
}

extension SendRecord {
    /// How one push of the send is known again. Bound to this record: a later one of the same key sends again.
    func identity(ofPush name: String) -> RequestIdentity {
        var input = DigestInput()
        input.append(request.key)
        input.append(String(startedAt.milliseconds))
        input.append(name)
        return RequestIdentity(key: SHA256.hash(input.bytes), fingerprint: request.fingerprint)
    }
}
