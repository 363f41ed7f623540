import MartletCore
import MartletHTTP
import MartletHubAPI
import MartletModel

/// The part of the administration API for campaigns. A campaign is a named draft with the notification that was sent
/// from the draft.
///
/// | request | answer |
/// |---|---|
/// | `GET /hubs/{name}/campaigns[?before][&limit]` | 200 `{"campaigns", "next"}`, newest first, without drafts |
/// | `POST /hubs/{name}/campaigns` `{"name", "draft"}` | 201, the campaign |
/// | `GET /hubs/{name}/campaigns/{id}` | 200 `{"id", "name", "draft", "version", "send", "createdAt", "changedAt", "changedBy"}` |
/// | `PUT /hubs/{name}/campaigns/{id}` `{"name", "draft", "version"}` | 200, the campaign; 409 with the stored campaign as `"campaign"`, if that has another version or was sent |
/// | `PUT /hubs/{name}/campaigns/{id}/send` `{"notification"}` | 200, the campaign, which is final from then on |
/// | `DELETE /hubs/{name}/campaigns/{id}` | 204 |
struct CampaignAdministration: Sendable {
    let hubs: HubDirectory
    let store: any CampaignStore
    let time: any TimeSource

    /// The maximum length of a request body, in bytes: the length of the longest draft, and 16 KiB for the name and for
    /// JSON escapes.
    private static let bodyLimit = Campaign.draftLimit + 16_384
    private static let limits = 1...200

    private struct Refusal: Error {
        var status = HTTPStatus.badRequest
        var sentence: String
        var campaign: Campaign?

        static let notFound = Refusal(status: .notFound, sentence: "The hub has no such campaign.")

        init(status: HTTPStatus = .badRequest, sentence: String, campaign: Campaign? = nil) {
            self.status = status
            self.sentence = sentence
            self.campaign = campaign
        }

        init(_ error: StorageError) {
            self.init(status: error.kind == .full ? .insufficientStorage : .serviceUnavailable, sentence: error.detail)
        }
    }

    func addRoutes(to router: inout Router) {
        router.on(.get, "/hubs/{name}/campaigns") { _, match in
            await answer(match) { hub throws(Refusal) in try await list(match.target, hub) }
        }
        router.on(.post, "/hubs/{name}/campaigns", bodyLimit: Self.bodyLimit) { request, match in
            await answer(match) { hub throws(Refusal) in
                let text = try text(request)
                let added = try await stored { () throws(StorageError) in
                    try await store.addCampaign(text, in: hub.id)
                }
                guard let added else {
                    throw Refusal(
                        status: .conflict,
                        sentence: "The hub has \(Campaign.countLimit) campaigns already: delete some first.")
                }
                return HTTPResponse(.created, json: Self.json(added))
            }
        }
        router.on(.get, "/hubs/{name}/campaigns/{id}") { _, match in
            await answer(match) { hub throws(Refusal) in
                let id = try Self.id(match)
                let found = try await stored { () throws(StorageError) in try await store.campaign(id, in: hub.id) }
                guard let found else { throw .notFound }
                return HTTPResponse(.ok, json: Self.json(found))
            }
        }
        router.on(.put, "/hubs/{name}/campaigns/{id}", bodyLimit: Self.bodyLimit) { request, match in
            await answer(match) { hub throws(Refusal) in
                let (id, text) = (try Self.id(match), try text(request))
                guard let version = (try? JSON(parsing: request.body))?["version"]?.integer else {
                    throw Refusal(sentence: "The body needs the version that was read.")
                }
                return try Self.changed(
                    try await stored { () throws(StorageError) in
                        try await store.change(id, in: hub.id, version: version, to: text)
                    })
            }
        }
        router.on(.put, "/hubs/{name}/campaigns/{id}/send", bodyLimit: 4096) { request, match in
            await answer(match) { hub throws(Refusal) in
                let id = try Self.id(match)
                let name = (try? JSON(parsing: request.body))?["notification"]?.string
                guard let send = name.flatMap({ NotificationID($0) }) else {
                    throw Refusal(sentence: "The body needs the id of a notification, as 'notification'.")
                }
                return try Self.changed(
                    try await stored { () throws(StorageError) in
                        try await store.recordSend(send, of: id, in: hub.id)
                    })
            }
        }
        router.on(.delete, "/hubs/{name}/campaigns/{id}") { _, match in
            await answer(match) { hub throws(Refusal) in
                let id = try Self.id(match)
                let isRemoved = try await stored { () throws(StorageError) in
                    try await store.removeCampaign(id, in: hub.id)
                }
                guard isRemoved else { throw .notFound }
                return HTTPResponse(.noContent)
            }
        }
    }

    private func list(_ target: HTTPTarget, _ hub: Hub) async throws(Refusal) -> HTTPResponse {
        let limit = target.item("limit")?.value.map { Int($0) } ?? 50
        let before = target.item("before")?.value.map { Int64($0) }
        guard let limit, Self.limits.contains(limit), before != .some(nil) else {
            throw Refusal(sentence: "before is the id of a campaign, and limit is 1 to \(Self.limits.upperBound).")
        }
        let last = before.flatMap { $0 }.map { Campaign.ID(rawValue: $0) }
        let found = try await stored { () throws(StorageError) in
            try await store.campaigns(in: hub.id, before: last, limit: limit)
        }
        let next = found.count == limit ? found.last.map { JSON.string(String($0.id.rawValue)) } : nil
        let documents = found.map { campaign in JSON.object(Self.members(campaign)) }
        return HTTPResponse(.ok, json: ["campaigns": .array(documents), "next": next ?? .null])
    }

    private static func id(_ match: RouteMatch) throws(Refusal) -> Campaign.ID {
        guard let id = Int64(match["id"]) else { throw .notFound }
        return Campaign.ID(rawValue: id)
    }

    private func text(_ request: HTTPRequest) throws(Refusal) -> CampaignText {
        guard let body = try? JSON(parsing: request.body), let name = body["name"]?.string,
            let draft = body["draft"], draft.object != nil
        else { throw Refusal(sentence: "The body is {\"name\": …, \"draft\": {…}}.") }
        guard (1...Campaign.nameLimit).contains(name.count), name.utf8.count <= Campaign.nameLimit * 4,
            !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw Refusal(sentence: "A name has 1 to \(Campaign.nameLimit) characters, none of them a control.") }
        guard draft["confidential"] != true else {
            throw Refusal(sentence: "A confidential draft is not stored, because others could read it.")
        }
        let text = draft.text
        guard text.utf8.count <= Campaign.draftLimit else {
            throw Refusal(
                status: .contentTooLarge, sentence: "A draft has at most \(Campaign.draftLimit) bytes.")
        }
        return CampaignText(name: name, draft: text, author: SendAuthor(administering: request), at: time.now)
    }

    private static func changed(_ change: CampaignChange) throws(Refusal) -> HTTPResponse {
        switch change {
        case .changed(let campaign): return HTTPResponse(.ok, json: json(campaign))
        case .notFound: throw .notFound
        case .conflicting(let campaign):
            throw Refusal(
                status: .conflict, sentence: "Somebody else has changed the campaign since you read it.",
                campaign: campaign)
        case .sent(let campaign):
            throw Refusal(
                status: .conflict, sentence: "The campaign was sent and cannot be changed.", campaign: campaign)
        case .unknownSend: throw Refusal(sentence: "The hub has no such notification.")
        }
    }

    private static func members(_ campaign: Campaign) -> [String: JSON] {
        [
            "id": .string(String(campaign.id.rawValue)), "name": .string(campaign.name),
            "version": .integer(campaign.version), "send": campaign.send.map { .string($0.description) } ?? .null,
            "createdAt": .string(campaign.createdAt.iso8601), "changedAt": .string(campaign.changedAt.iso8601),
            "changedBy": .string(campaign.changedBy.description),
        ]
    }

    private static func json(_ campaign: Campaign) -> JSON {
        var members = members(campaign)
        members["draft"] = (try? JSON(parsing: Array(campaign.draft.utf8))) ?? .null
        return .object(members)
    }

    private func stored<Value>(_ work: () async throws(StorageError) -> Value) async throws(Refusal) -> Value {
        do throws(StorageError) {
            return try await work()
        } catch {
            throw Refusal(error)
        }
    }

    private func answer(
        _ match: RouteMatch, _ work: (Hub) async throws(Refusal) -> HTTPResponse
    ) async -> HTTPResponse {
        guard let hub = hubs.hub(named: match["name"]) else { return AdminAPI.refusal(.notFound(match["name"])) }
        do throws(Refusal) {
            return try await work(hub)
        } catch {
            var members: [String: JSON] = ["error": .string(error.sentence)]
            members["campaign"] = error.campaign.map(Self.json)
            return HTTPResponse(error.status, json: .object(members))
        }
    }
}
