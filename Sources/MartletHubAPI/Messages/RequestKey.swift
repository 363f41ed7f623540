import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// The key by which a repeated request is recognized.
enum RequestKey {
    /// The value of `Idempotency-Key`, which the caller promises to use for one request only.
    case promised(String)
    /// The value of `TrackingId`, which the Java client repeats with each attempt (NotificationHubs.md, section 3.2).
    /// Applications may use the same value for different requests.
    case tracked(String)

    /// Reads the key of a request.
    /// - Returns: nil if the request has neither header; then every request counts as new.
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

    /// Returns the identity of the request, bound to the access key and to `path`. Different requests with the same
    /// tracking id have different identities; different requests with the same idempotency key conflict.
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
    /// Bytes that identify everything that the request asks for: content, target, times and options. They do not
    /// include the bytes of the body, because the boundaries of a batch's parts differ with every attempt.
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
        case .message(let composed):
            input.append("message")
            input.append(composed.body)
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
