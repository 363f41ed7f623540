import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// By what a repeated request says that it is one.
enum RequestKey {
    /// `Idempotency-Key`, which the caller promises to use for one request only.
    case promised(String)
    /// `TrackingId`, which one client repeats with each attempt and applications may use for requests that differ.
    case tracked(String)

    /// - Returns: nil where the request has neither, so that every one is a new one.
    static func read(from request: HTTPRequest) throws(HubAPIError) -> RequestKey? {
        let promised = request.fields.values(of: "idempotency-key")
        guard promised.isEmpty else {
            guard promised.count == 1, (1...255).contains(promised[0].utf8.count),
                promised[0].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else { throw .badRequest("Idempotency-Key must be 1 to 255 visible ASCII characters, once") }
            return .promised(promised[0])
        }
        return TrackingID.sent(with: request).map { .tracked($0) }
    }

    /// How the request is known again: bound to the access key and to what `path` stands for. Requests that differ have
    /// different identities where their key is a tracking id, and are in conflict where it was promised.
    func identity(of send: SendRequest, to path: String, in call: HubCall) -> RequestIdentity {
        let fingerprint = SHA256.hash(send.fingerprint)
        var key = DigestInput()
        key.append(String(call.hub.id.rawValue))
        key.append(call.keyName)
        key.append(path)
        switch self {
        case .promised(let text):
            key.append("idempotency-key")
            key.append(text)
        case .tracked(let text):
            key.append("trackingid")
            key.append(text)
            key.append(fingerprint)
        }
        return RequestIdentity(key: SHA256.hash(key.bytes), fingerprint: fingerprint)
    }
}

extension SendRequest {
    /// Everything that the request says, whichever way it is written: the boundaries of a batch's parts differ with every
    /// attempt.
    fileprivate var fingerprint: [UInt8] {
        var input = DigestInput()
        switch content {
        case .native(let platform, let message):
            input.append(platform.rawValue)
            for (name, value) in message.fields.sorted(by: { $0.key < $1.key }) {
                input.append(name)
                input.append(value)
            }
            input.append("body")
            input.append(message.body)
        case .template(let properties):
            input.append("template")
            input.append(properties)
        }
        switch target {
        case .audience(nil): input.append("everybody")
        case .audience(let expression?):
            input.append("tags")
            input.append(expression.description)
        case .direct(let handles):
            input.append("handles")
            for handle in handles { input.append(handle.text) }
        }
        if let dueAt { input.append(String(dueAt.milliseconds)) }
        switch expiry {
        case .at(let timestamp): input.append("expires \(timestamp.milliseconds)")
        case .after(let duration): input.append("expires after \(duration)")
        case nil: break
        }
        if let rollout {
            input.append("rollout")
            input.append(rollout.description)
        }
        if isConfidential { input.append("confidential") }
        return input.bytes
    }
}
