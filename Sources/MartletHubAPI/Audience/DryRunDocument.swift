import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// The result of a dry run, as JSON.
struct DryRunDocument: Sendable {
    let run: DryRun

    func response() -> HTTPResponse {
        HTTPResponse(
            .ok, fields: ["content-type": "application/json; charset=utf-8", "cache-control": "no-store"],
            body: .bytes(json.bytes))
    }

    var json: JSON {
        var members: [String: JSON] = [
            "isAccepted": .bool(run.refusal == nil), "targeted": .integer(Int64(run.targeted)),
            "problems": .array(run.problems.map(JSON.string)), "cautions": .array(run.cautions.map(JSON.string)),
            "platforms": .object(
                Dictionary(uniqueKeysWithValues: run.platforms.map { ($0.platform.rawValue, json($0)) })),
            "startsAt": .string(run.startsAt.iso8601), "expiresAt": .string(run.expiresAt.iso8601),
            "rollout": run.rollout.map(json) ?? .null,
        ]
        members["refusal"] = run.excess.map { Self.json($0) }
        members["audience"] = run.count.map { AudienceDocument($0).json }
        members["missingLanguages"] = run.missingLanguages.map { .array($0.map(JSON.string)) }
        members["templatesOnly"] = run.templatesOnly.map { .integer(Int64($0)) }
        return .object(members)
    }

    private func json(_ rollout: Rollout) -> JSON {
        [
            "spec": .string(rollout.description), "rate": rollout.rate(for: run.targeted).map { .double($0) } ?? .null,
            "seconds": .double(rollout.seconds(for: run.targeted)),
            "sample": run.sampleSize.map { .integer(Int64($0)) } ?? .null,
        ]
    }

    private func json(_ result: DryRun.PlatformResult) -> JSON {
        var credential: [String: JSON] = ["state": .string(result.credential.state.rawValue)]
        credential["expiresAt"] = result.credential.expiresAt.map { .string($0.iso8601) }
        return [
            "targeted": .integer(Int64(result.targeted)), "devices": .integer(Int64(result.devices)),
            "credential": .object(credential), "payloads": .array(result.payloads.map(Self.json)),
            "furtherTemplates": .integer(Int64(result.furtherTemplates)),
            "furtherPushes": .integer(Int64(result.furtherPushes)),
            "untriedPushes": .integer(Int64(result.untriedPushes)),
            "problems": .array(result.problems.map(JSON.string)),
        ]
    }

    /// Returns the refusal of a payload that is too large. The code does not change.
    private static func json(_ excess: PayloadExcess) -> JSON {
        var members: [String: JSON] = [
            "code": "payload-too-large", "error": .string(excess.description),
            "platform": .string(excess.platform.rawValue), "size": .integer(Int64(excess.size)),
            "limit": .integer(Int64(excess.limit)), "isTruncated": .bool(excess.isTruncated),
        ]
        members["language"] = excess.language.map(JSON.string)
        return .object(members)
    }

    private static func json(_ payload: DryRun.Payload) -> JSON {
        var members: [String: JSON] = [
            "pushes": .integer(Int64(payload.pushes)), "renderings": .integer(Int64(payload.renderings)),
        ]
        if let template = payload.template {
            var shown: [String: JSON] = ["body": .string(template.body)]
            shown["name"] = template.name.map(JSON.string)
            members["template"] = .object(shown)
        }
        members["language"] = payload.language.map(JSON.string)
        if let message = payload.message {
            members["appearance"] = payload.appearance.map { AppearanceDocument(appearance: $0).json } ?? .null
            members["size"] = .integer(Int64(message.body.count))
            members["fields"] = .object(message.fields.mapValues(JSON.string))
            if let text = String(validating: message.body, as: UTF8.self) {
                members["body"] = .string(text)
            } else {
                members["base64"] = .string(Base64.encode(message.body))
            }
        }
        return .object(members)
    }
}
