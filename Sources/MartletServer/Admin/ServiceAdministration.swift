import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletNetwork
import MartletStorage

/// The part of the administration API that shows the state of a hub's push services and generates credentials.
///
/// | request | answer |
/// |---|---|
/// | `GET /hubs/{name}/services` | 200 `{"hub", "platforms": […]}` |
/// | `POST /hubs/{name}/credentials/{platform}/generate` | 201 `{"shown": {flag: value}}`; 409 if there is a credential |
struct ServiceAdministration: Sendable {
    let hubs: HubDirectory
    let platforms: PushPlatformList
    let dispatcher: Dispatcher
    let lanes: any LaneStore
    let metrics: ServerMetrics
    let digestKey: HMACSHA256
    /// The platforms for which a hub without a credential uses the simulator's credential.
    let simulated: Set<PlatformID>
    let time: any TimeSource

    func addRoutes(to router: inout Router) {
        router.on(.get, "/hubs/{name}/services") { _, match in
            guard let hub = hubs.hub(named: match["name"]) else { return AdminAPI.refusal(.notFound(match["name"])) }
            do throws(StorageError) {
                let stored = try await lanes.persistedLaneStates(at: time.now).filter { $0.lane.hub == hub.id }
                let connections = await metrics.client.openCounts
                let failures = dispatcher.failingServices.filter { $0.lane.hub == hub.id }
                let waiting = failures.isEmpty ? [:] : try await metrics.storage.waitingRetries(limit: Self.retryLimit)
                let found = platforms.filter { platforms.service($0.descriptor.platform) != nil }.map { type in
                    let lane = LaneID(hub: hub.id, platform: type.descriptor.platform)
                    var json = json(type.descriptor, hub, stored, connections)
                    json["failing"] = .array(failures.filter { $0.lane == lane }.map(Self.json))
                    json["waiting"] = waiting[lane].map(Self.json) ?? .null
                    return JSON.object(json)
                }
                return HTTPResponse(.ok, json: ["hub": .string(hub.name), "platforms": .array(found)])
            } catch {
                return HTTPResponse(.serviceUnavailable, error: error.detail)
            }
        }
        router.on(.post, "/hubs/{name}/credentials/{platform}/generate") { _, match in await generate(match) }
    }

    private func generate(_ match: RouteMatch) async -> HTTPResponse {
        guard let hub = hubs.hub(named: match["name"]) else { return AdminAPI.refusal(.notFound(match["name"])) }
        guard let platform = platforms.named(match["platform"])?.descriptor.platform else {
            return AdminAPI.refusal(.unknownPlatform(PlatformID(rawValue: match["platform"])))
        }
        guard hub.settings.credentials[platform] == nil else {
            return HTTPResponse(.conflict, error: "The hub has a credential for \(platform) already.")
        }
        let generated: (properties: [String: String], shown: [(flag: String, value: String)])
        do throws(ServerError) {
            generated = try Platforms.generateCredential(platform.rawValue)
        } catch {
            return HTTPResponse(.conflict, error: error.description)
        }
        do throws(HubDirectoryError) {
            try await hubs.setCredential(Credential(generated.properties), for: platform, of: hub.name)
        } catch {
            return AdminAPI.refusal(error)
        }
        let shown = generated.shown.map { ($0.flag, JSON.string($0.value)) }
        return HTTPResponse(.created, json: ["shown": .object(Dictionary(shown) { first, _ in first })])
    }

    private func json(
        _ descriptor: PushPlatformDescriptor, _ hub: Hub, _ stored: [PersistedLaneState], _ connections: [String: Int]
    ) -> [String: JSON] {
        let platform = descriptor.platform
        let own = hub.settings.credentials[descriptor.credentialPlatform]
        let isSimulated = own == nil && simulated.contains(descriptor.credentialPlatform)
        let (state, reason, end) = isSimulated ? ("usable", nil, nil) : self.state(platform, own)
        let memory = stored.first { $0.lane.platform == platform }
        let paused = dispatcher.pauseEnd(of: LaneID(hub: hub.id, platform: platform))
        let cause = memory?.pauses.first { $0.origin == nil }
        var shown: [String: JSON] = [:]
        for field in descriptor.credential.fields where !field.isSecret && !field.isFile {
            shown[field.flag] = own?.properties[field.name].map(JSON.string)
        }
        return [
            "platform": .string(platform.rawValue), "format": .string(descriptor.format),
            "look": .string(descriptor.look), "state": .string(state), "reason": reason.map(JSON.string) ?? .null,
            "isSimulated": .bool(isSimulated),
            "hasSimulator": .bool(simulated.contains(descriptor.credentialPlatform)),
            "expiresAt": end.map { .string($0.iso8601) } ?? .null,
            "connections": .integer(Int64(connections[platform.rawValue] ?? 0)),
            "fingerprint": fingerprint(own), "shown": .object(shown),
            "lane": [
                "state": paused == nil ? "open" : "paused", "until": paused.map { .string($0.iso8601) } ?? .null,
                "outcome": cause.map { .string($0.outcome.rawValue) } ?? .null,
                "reason": cause.map { .string($0.reason) } ?? .null,
            ],
            "origins": .array(origins(platform, hub)),
            "quarantines": .array((memory?.quarantines ?? []).map(JSON.string)),
            "fields": .array(descriptor.credential.fields.map(Self.json)),
            "canGenerate": .bool(!((try? platforms[platform]?.generatedCredential()) ?? [:]).isEmpty),
            "devices": .null,
        ]
    }

    private func state(
        _ platform: PlatformID, _ credential: Credential?
    ) -> (String, reason: String?, end: Timestamp?) {
        guard let credential else { return ("missing", nil, nil) }
        do throws(PushServiceError) {
            let end = try platforms.service(platform)?.init(credential: credential).expiresAt
            if let end, end <= time.now { return ("unusable", "The credential expired at \(end.iso8601).", end) }
            return ("usable", nil, end)
        } catch {
            return ("unusable", error.description, nil)
        }
    }

    /// The maximum number of paused origins that are listed for a platform.
    private static let originLimit = 50

    private func origins(_ platform: PlatformID, _ hub: Hub) -> [JSON] {
        dispatcher.originPauses(of: LaneID(hub: hub.id, platform: platform)).prefix(Self.originLimit).map { pause in
            [
                "origin": .string(pause.origin ?? ""), "until": .string(pause.until.iso8601),
                "outcome": .string(pause.outcome.rawValue), "reason": .string(pause.reason),
            ]
        }
    }

    /// The maximum number of waiting pushes that are counted.
    private static let retryLimit = 10_000

    private static func json(_ failure: ServiceFailure) -> JSON {
        [
            "origin": .string(failure.origin), "since": .string(failure.since.iso8601),
            "lastAt": .string(failure.lastAt.iso8601), "attempts": .integer(Int64(failure.attempts)),
            "status": failure.status.map { .integer(Int64($0)) } ?? .null,
            "outcome": .string(failure.outcome.name.rawValue), "reason": .string(failure.outcome.reason),
        ]
    }

    private static func json(_ waiting: WaitingRetries) -> JSON {
        [
            "pushes": .integer(Int64(waiting.pushes)), "isPartial": .bool(waiting.isPartial),
            "notifications": .integer(Int64(waiting.notifications)),
            "expiresAt": .string(waiting.firstExpiry.iso8601), "nextAt": .string(waiting.nextDue.iso8601),
        ]
    }

    /// Returns 8 hexadecimal digits that differ between different credentials; null without a credential.
    private func fingerprint(_ credential: Credential?) -> JSON {
        guard let credential else { return .null }
        let text = credential.properties.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(
            separator: "\n")
        guard let code = try? digestKey.authenticationCode(for: Array(text.utf8)) else { return .null }
        return .string(Hex.encode(Array(code.prefix(4))))
    }

    private static func json(_ field: PushPlatformDescriptor.CredentialForm.Field) -> JSON {
        [
            "name": .string(field.name), "flag": .string(field.flag), "help": .string(field.help),
            "isSecret": .bool(field.isSecret), "isFile": .bool(field.isFile),
            "kind": field.kind.map(JSON.string) ?? .null,
            "isUsual": .bool(field.kind != nil || !(field.isAddress || field.isExtension)),
            "file": field.fileMember.map { ["flag": .string($0.flag), "member": .string($0.member)] } ?? .null,
        ]
    }
}
