import MartletConsole
import MartletCore
import MartletHTTP
import MartletModel

/// The part of the administration API that lists a hub's sends and tags.
///
/// | request | answer |
/// |---|---|
/// | `GET /hubs/{name}/sends[?before][&limit][&state][&platform][&author][&since]` | 200 `{"sends", "next", "isPartial"}`, newest first |
/// | `GET /hubs/{name}/sends/{id}` | 200, the send with its `content` |
/// | `GET /hubs/{name}/tags[?prefix][&after][&limit][&personal=no]` | 200 `{"tags", "next"}`; tags of single devices are listed only for a prefix that begins with `$` |
/// | `GET /hubs/{name}/tags/prefixes` | 200 `{"prefixes", "plain", "isComplete"}` |
struct SendAdministration: Sendable {
    let hubs: HubDirectory
    let store: any SendListStore
    let platforms: PushPlatformList

    private static let limits = 1...200
    private static let tagLimits = 1...200
    private static let prefixSteps = 200

    func addRoutes(to router: inout Router) {
        router.on(.get, "/hubs/{name}/sends") { _, match in
            await answer(match) { hub throws(StorageError) in
                let query: SendQuery
                do throws(BadQuery) {
                    query = try self.query(match.target, hub)
                } catch {
                    return HTTPResponse(.badRequest, error: error.sentence)
                }
                let page = try await store.sends(query)
                return HTTPResponse(
                    .ok,
                    json: [
                        "sends": .array(page.entries.map { .object(members($0)) }),
                        "next": page.next.map { .string(String($0)) } ?? .null, "isPartial": .bool(page.isPartial),
                    ])
            }
        }
        router.on(.get, "/hubs/{name}/sends/{id}") { _, match in
            await answer(match) { hub throws(StorageError) in
                guard let id = NotificationID(match["id"]), let entry = try await store.send(id, in: hub.id) else {
                    return AdminAPI.unknownNotification
                }
                var members = self.members(entry)
                members["content"] = content(entry.report.notification)
                return HTTPResponse(.ok, json: .object(members))
            }
        }
        router.on(.get, "/hubs/{name}/tags/prefixes") { _, match in
            await answer(match) { hub throws(StorageError) in
                let found = try await store.tagPrefixes(in: hub.id, steps: Self.prefixSteps)
                return HTTPResponse(
                    .ok,
                    json: [
                        "prefixes": .array(
                            found.prefixes.filter { !DeviceTags.prefixes.contains($0) }.map(JSON.string)),
                        "plain": .bool(found.hasPlain),
                        "isComplete": .bool(found.isComplete),
                    ])
            }
        }
        router.on(.get, "/hubs/{name}/tags") { _, match in
            await answer(match) { hub throws(StorageError) in try await tags(match.target, hub) }
        }
    }

    private func tags(_ target: HTTPTarget, _ hub: Hub) async throws(StorageError) -> HTTPResponse {
        let limit = target.item("limit")?.value.map { Int($0) } ?? 50
        guard let limit, Self.tagLimits.contains(limit) else {
            return HTTPResponse(.badRequest, error: "limit is 1 to \(Self.tagLimits.upperBound).")
        }
        let prefix = (target.item("prefix")?.value ?? "").lowercased()
        let isWithoutPersonal = target.item("personal")?.value == "no"
        let (names, next) = try await tagNames(
            beginningWith: prefix, after: target.item("after")?.value?.lowercased(), in: hub, limit: limit
        ) { name in
            if isWithoutPersonal { return PersonalAudience.end(of: name) }
            // There can be as many tags of single devices as there are devices, so these tags would fill the list.
            return prefix.hasPrefix("$") ? nil : DeviceTags.end(of: name)
        }
        return HTTPResponse(
            .ok, json: ["tags": .array(names.map(JSON.string)), "next": next.map(JSON.string) ?? .null])
    }

    /// The maximum number of times that one request skips a group of tags that are left out.
    private static let passLimit = 200

    /// Returns the names of tags in order, and the name after which the next page begins; nil if the list is complete.
    ///
    /// Of a tag that is left out, the result reveals nothing but the text that `end` returns.
    /// - Parameter end: Returns nil for a tag that is listed. For a tag that is left out, returns a name that sorts
    ///   after this tag and after all other tags that are left out for the same reason.
    private func tagNames(
        beginningWith prefix: String, after last: String?, in hub: Hub, limit: Int,
        leavingOut end: (String) -> String?
    ) async throws(StorageError) -> (names: [String], next: String?) {
        var (names, last): ([String], String?) = ([], last)
        for _ in 0..<Self.passLimit {
            let wanted = limit - names.count
            let page = try await store.tagNames(beginningWith: prefix, after: last, in: hub.id, limit: wanted)
            guard let first = page.firstIndex(where: { end($0) != nil }) else {
                names += page
                return (names, page.count == wanted ? names.last : nil)
            }
            names += page[..<first]
            last = end(page[first])
        }
        return (names, last)
    }

    // MARK: The query

    private struct BadQuery: Error {
        let sentence: String
    }

    private func query(_ target: HTTPTarget, _ hub: Hub) throws(BadQuery) -> SendQuery {
        var query = SendQuery(hub: hub.id, limit: 50)
        if let text = target.item("limit")?.value {
            guard let limit = Int(text), Self.limits.contains(limit) else {
                throw BadQuery(sentence: "limit is 1 to \(Self.limits.upperBound).")
            }
            query.limit = limit
        }
        if let text = target.item("before")?.value {
            guard let before = Int64(text), before > 0 else {
                throw BadQuery(sentence: "before is the cursor of a send, or the next of a page.")
            }
            query.before = before
        }
        if let text = target.item("state")?.value {
            guard let phase = SendQuery.Phase(rawValue: text) else {
                let names = SendQuery.Phase.allCases.map(\.rawValue).joined(separator: ", ")
                throw BadQuery(sentence: "state is one of \(names).")
            }
            query.phase = phase
        }
        if let text = target.item("platform")?.value {
            guard let platform = platforms.named(text) else {
                throw BadQuery(sentence: "There is no platform '\(text)'.")
            }
            query.platform = platform.descriptor.platform
        }
        if let text = target.item("author")?.value {
            guard let author = SendQuery.Author(text) else { throw BadQuery(sentence: SendQuery.Author.form) }
            query.author = author
        }
        if let text = target.item("since")?.value {
            guard let since = Timestamp(iso8601: text) else {
                throw BadQuery(sentence: "since is a time such as 2026-11-21T09:22:56Z.")
            }
            query.since = since
        }
        return query
    }

    // MARK: Documents

    func members(_ entry: SendEntry) -> [String: JSON] {
        let report = entry.report
        let notification = report.notification
        var counts: [OutcomeName: Int] = [:]
        for platform in report.counts.values { counts.merge(platform, uniquingKeysWith: +) }
        let sums = SendCounts(counts)
        let isOver = report.state.isFinal
        // Before a send has ended, its audience may not have been read completely. The audience of a send that was
        // canceled before it began was never read.
        let isCounted = isOver && !report.isWithdrawn
        var members: [String: JSON] = [
            "id": .string(notification.id.description), "cursor": .string(String(notification.sequence)),
            "acceptedAt": .string(notification.acceptedAt.iso8601), "dueAt": Self.time(notification.dueAt),
            "expiresAt": .string(notification.expiresAt.iso8601), "startedAt": Self.time(report.startedAt),
            "endedAt": Self.time(report.endedAt), "state": .string(report.state.rawValue),
            "control": entry.isHolding
                ? "holding" : entry.control.shown(in: report.state).map { .string($0.rawValue) } ?? .null,
            "isConfidential": .bool(notification.isConfidential), "succeeded": .integer(Int64(sums.succeeded)),
            "failed": .integer(Int64(sums.failed)),
            "targeted": isCounted ? .integer(Int64(counts.values.reduce(0, +))) : .null,
            "pending": isOver ? 0 : .null,
            "platforms": .array(report.platforms.map { .string($0.rawValue) }),
        ]
        members["goesOnAt"] = Self.time(entry.goesOnAt)
        members.merge(Self.origin(entry.origin)) { $1 }
        members.merge(target(notification.target)) { $1 }
        members.merge(kind(notification.content)) { $1 }
        members["text"] = notification.isConfidential ? .null : notification.title(platforms).map(JSON.string) ?? .null
        members["rollout"] = notification.rollout.map { .string($0.description) } ?? .null
        return members
    }

    private static func time(_ timestamp: Timestamp?) -> JSON { timestamp.map { .string($0.iso8601) } ?? .null }

    private static func origin(_ origin: SendOrigin) -> [String: JSON] {
        let author = origin.author.map { JSON.string($0.description) } ?? .null
        return [
            "author": origin.text.map(JSON.string) ?? .null, "resentBy": origin.isResend ? author : .null,
            "resentFrom": origin.original.map { .string($0.description) } ?? .null,
        ]
    }

    private func target(_ target: Notification.Target) -> [String: JSON] {
        switch target {
        case .audience(let expression):
            let text = expression?.description
            return [
                "expression": text.map(JSON.string) ?? .null, "isDirect": false, "handles": 0,
                "isToOneUser": .bool(text.map { PersonalAudience.isNamed(in: $0) } ?? false),
            ]
        case .direct(let handles):
            return [
                "expression": .null, "isDirect": true, "handles": .integer(Int64(handles.count)), "isToOneUser": false,
            ]
        }
    }

    private func kind(_ content: Notification.Content) -> [String: JSON] {
        switch content {
        case .native(let platform, _): ["kind": "native", "platform": .string(platform.rawValue)]
        case .template: ["kind": "template", "platform": .null]
        case .message: ["kind": "message", "platform": .null]
        }
    }

    private func content(_ notification: Notification) -> JSON {
        guard !notification.isConfidential else { return ["isWithheld": true, "why": "confidential"] }
        var members: [String: JSON] = [:]
        let body = notification.content.body
        if let text = String(validating: body, as: UTF8.self) {
            members["body"] = .string(text)
        } else {
            members["body"] = .null
        }
        members["size"] = .integer(Int64(body.count))
        if case .native(_, let message) = notification.content {
            members["fields"] = .object(message.fields.mapValues(JSON.string))
        }
        return .object(members)
    }

    private func answer(
        _ match: RouteMatch, _ work: (Hub) async throws(StorageError) -> HTTPResponse
    ) async -> HTTPResponse {
        guard let hub = hubs.hub(named: match["name"]) else { return AdminAPI.refusal(.notFound(match["name"])) }
        do throws(StorageError) {
            return try await work(hub)
        } catch {
            return HTTPResponse(.serviceUnavailable, error: error.detail)
        }
    }
}

extension SendQuery.Author {
    static let form =
        "author is key:RULE, user:NAME, operator:NAME, administrator, resend for all resends, or resend:ID for those of "
        + "one send."

    fileprivate init?(_ text: String) {
        if text == "resend" {
            self = .resends
        } else if text.hasPrefix("resend:") {
            guard let id = NotificationID(String(text.dropFirst("resend:".count))) else { return nil }
            self = .resendsOf(id)
        } else {
            guard let author = SendAuthor(text) else { return nil }
            self = .named(author)
        }
    }
}

/// The tags that the server gives to single devices: `$InstallationId:{ID}` to the registrations of an installation,
/// and `$RegistrationId:{ID}` to a device that the app backend registers with a key for encryption.
enum DeviceTags {
    /// The prefixes of the tags of devices, in lower case.
    static let prefixes = ["$installationid:", "$registrationid:"]

    /// Returns a name that sorts after all tags that have the same prefix as `name`; nil if `name` is not the tag of a
    /// device.
    static func end(of name: String) -> String? {
        prefixes.first { name.hasPrefix($0) }.map { $0 + "\u{10FFFF}" }
    }
}
