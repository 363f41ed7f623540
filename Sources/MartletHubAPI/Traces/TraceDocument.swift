public import MartletCore
import MartletCrypto
public import MartletModel

/// The trace of a notification on a device, as JSON, for the hub's API and the admin API.
public struct TraceDocument: Sendable {
    private let trace: DeviceTrace

    public init(_ trace: DeviceTrace) {
        self.trace = trace
    }

    public var json: JSON {
        [
            "control": trace.shownControl.map { .string($0.rawValue) } ?? .null,
            "controlledAt": trace.controlledAt.map { .string($0.iso8601) } ?? .null,
            "notification": .string(trace.notification.id.description), "device": .string(trace.device),
            "verdict": .string(trace.verdict.rawValue), "explanation": .array(trace.sentences.map(JSON.string)),
            "author": trace.origin.text.map(JSON.string) ?? .null,
            "acceptedAt": .string(trace.notification.acceptedAt.iso8601),
            "expiresAt": .string(trace.notification.expiresAt.iso8601),
            "registrations": .array(trace.pushes.map(json)),
            "receipts": .array(
                trace.receipts.map { receipt in
                    [
                        "registration": .string(receipt.device), "event": .string(receipt.event.rawValue),
                        "at": .string(receipt.at.iso8601),
                    ]
                }),
        ]
    }

    private func json(_ push: PushTrace) -> JSON {
        var members: [String: JSON] = [
            "registration": .string(push.registration.id),
            "platform": .string(push.registration.platform.rawValue),
            "kind": push.registration.template == nil ? "native" : "template",
            "createdAt": .string(push.registration.createdAt.iso8601), "verdict": .string(push.verdict.rawValue),
            "isInAudience": .bool(push.isMember), "token": .string(push.fate.rawValue),
            "attempts": .array(push.attempts.map(Self.json)),
        ]
        members["installation"] = push.registration.installation.map(JSON.string)
        if case .audience(let expression?) = trace.notification.target {
            members["expression"] = .string(expression.description)
        }
        if let decision = push.decision {
            members["decidedBy"] = .array(
                decision.terms.map { ["tag": .string($0.tag.spelling), "isPresent": .bool($0.isPresent)] })
        }
        members["messageId"] = push.messageID.map { .string($0.description) }
        members["nextAttemptAt"] = push.retryAt.map { .string($0.iso8601) }
        members["side"] = push.side.map { $0 == .sample ? "sample" : "rest" }
        members["page"] = push.range.map(Self.json)
        members["payload"] = push.payload.map { payload($0, push.appearance) }
        members["since"] = push.since.map { end in
            ["at": .string(end.at.iso8601), "what": .string(end.cause.rawValue)]
        }
        return .object(members)
    }

    /// Returns the payload as JSON, without its body and appearance if the notification is confidential.
    private func payload(_ message: Message, _ appearance: Appearance?) -> JSON {
        let digits = Array("0123456789abcdef")
        let hash = SHA256.hash(message.body).map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined()
        var members: [String: JSON] = ["sha256": .string(hash), "size": .integer(Int64(message.body.count))]
        guard !trace.notification.isConfidential else { return .object(members) }
        members["appearance"] = appearance.map { AppearanceDocument(appearance: $0).json } ?? .null
        if let text = String(validating: message.body, as: UTF8.self) {
            members["body"] = .string(text)
        } else {
            members["base64"] = .string(Base64.encode(message.body))
        }
        return .object(members)
    }

    private static func json(_ attempt: Attempt) -> JSON {
        var members: [String: JSON] = [
            "number": .integer(Int64(attempt.number)), "at": .string(attempt.at.iso8601),
            "outcome": .string(attempt.outcome.rawValue), "reason": .string(attempt.reason),
        ]
        members["origin"] = attempt.answer.map { .string($0.origin) }
        members["status"] = attempt.answer?.status.map { .integer(Int64($0)) }
        members["connection"] = attempt.answer?.connection.map { .integer(Int64($0)) }
        return .object(members)
    }

    private static func json(_ range: RangeRecord) -> JSON {
        [
            "startedAt": .string(range.startedAt.iso8601), "endedAt": .string(range.endedAt.iso8601),
            "outcomes": .object(
                Dictionary(uniqueKeysWithValues: range.counts.map { ($0.key.rawValue, .integer(Int64($0.value))) })),
            "origins": .array(range.origins.map(JSON.string)),
        ]
    }
}
