import MartletBackend
import MartletConsole
import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// The part of the administration API that finds devices and the sends that targeted them.
///
/// | request | answer |
/// |---|---|
/// | `POST /hubs/{name}/devices/search` `{"text", "kind", "isExact"}` | 200 `{"users", "devices", "isComplete"}` |
/// | `POST /hubs/{name}/devices/former` `{"user", "before"}` | 200 `{"devices", "lookedBackTo", "next"}`, newest first |
/// | `GET /hubs/{name}/devices/{id}` | 200, the device with its `history` and `encryptionKeys` |
/// | `GET /hubs/{name}/devices/{id}/sends[?before]` | 200 `{"sends", "lookedBackTo", "next"}`, newest first |
///
/// A device is a registration. An installation's id stands for all its registrations.
struct DeviceAdministration: Sendable {
    let hubs: HubDirectory
    let store: any DeviceStore & TraceStore & SendListStore & DeviceKeyStore
    /// The users of the app backend. A search in the backend's hub also finds users who have no device.
    let users: any UserStore
    let backendHub: BackendHub
    let traces: Traces
    let platforms: PushPlatformList
    let digestKey: HMACSHA256
    let time: any TimeSource

    private static let bodyLimit = 8192
    private static let deviceLimit = 50
    private static let userLimit = 20

    func addRoutes(to router: inout Router) {
        router.on(.post, "/hubs/{name}/devices/search", bodyLimit: Self.bodyLimit) { request, match in
            let body = try? JSON(parsing: request.body)
            guard let text = body?["text"]?.string, !text.isEmpty else {
                return HTTPResponse(.badRequest, error: "The body needs a text to search for.")
            }
            return await answer(match) { hub throws(StorageError) in
                try await search(text, body?["kind"]?.string, isExact: body?["isExact"]?.bool == true, hub)
            }
        }
        router.on(.post, "/hubs/{name}/devices/former", bodyLimit: Self.bodyLimit) { request, match in
            let body = try? JSON(parsing: request.body)
            guard let user = body?["user"]?.string.flatMap({ try? UserName($0) }) else {
                return HTTPResponse(.badRequest, error: "The body needs the name of a user.")
            }
            let before = body?["before"]?.string.flatMap { Int64($0) }
            return await answer(match) { hub throws(StorageError) in try await former(of: user, before: before, hub) }
        }
        router.on(.get, "/hubs/{name}/devices/{id}") { _, match in
            await answer(match) { hub throws(StorageError) in
                let past = try await store.past(of: match["id"], in: hub.id)
                guard let newest = past.versions.last(where: { $0.end == nil }) ?? past.versions.last else {
                    return Self.unknown
                }
                var members = json(newest).object ?? [:]
                members["isRegistered"] = .bool(newest.end == nil)
                members["history"] = .array(
                    past.versions.reversed().compactMap { version in
                        version.end.map { ["at": .string($0.at.iso8601), "change": .string($0.cause.rawValue)] }
                    })
                let current = past.versions.filter { $0.end == nil }
                members["registrations"] = .array(current.map(json))
                members["encryptionKeys"] = .array(try await encryptionKeys(of: newest, current, in: hub.id))
                return HTTPResponse(.ok, json: .object(members))
            }
        }
        router.on(.get, "/hubs/{name}/devices/{id}/sends") { _, match in
            await answer(match) { hub throws(StorageError) in try await sends(match, hub) }
        }
    }

    private static let unknown = HTTPResponse(.notFound, error: "The hub has no such device.")

    // MARK: Searching

    private func search(
        _ text: String, _ kind: String?, isExact: Bool, _ hub: Hub
    ) async throws(StorageError) -> HTTPResponse {
        func wants(_ name: String) -> Bool { kind == nil || kind == name }
        var users: [String] = []
        var devices: [RegistrationVersion] = []
        var isComplete = true
        if wants("user"), let user = try? UserName(text) {
            users = try await self.users(user, isExact: isExact, hub)
            users += try await usersWithoutDevices(user, isExact: isExact, hub, besides: users)
            users = Array(users.prefix(Self.userLimit))
            isComplete = users.count < Self.userLimit
            (devices, isComplete) = try await add(.tag(user.tag), hub, devices, isComplete)
        }
        if wants("device") || wants("installation") {
            devices += try await store.past(of: text, in: hub.id).versions.filter { $0.end == nil }
        }
        // The console sets `isExact` for operators who may not list users. These operators must not find users by a tag
        // that several users share, so for them a tag is searched for only if it names one person or one device.
        if wants("tag"), !isExact || PersonalAudience.isNamed(in: text), let tag = try? Tag(text) {
            (devices, isComplete) = try await add(.tag(tag), hub, devices, isComplete)
        }
        if wants("handle") {
            for platform in platforms where devices.isEmpty || kind != nil {
                guard let key = platform.key(meantBy: text) else { continue }
                let filter = RegistrationQuery.Filter.handle(platform: platform.descriptor.platform, key: key)
                (devices, isComplete) = try await add(filter, hub, devices, isComplete)
            }
        }
        var seen: Set<String> = []
        let found = devices.filter { seen.insert($0.id).inserted }
        return HTTPResponse(
            .ok,
            json: [
                "users": .array(users.map(JSON.string)), "devices": .array(found.prefix(Self.deviceLimit).map(json)),
                "isComplete": .bool(isComplete && found.count <= Self.deviceLimit),
            ])
    }

    /// The limits of one search for the former devices of a user: the number of registration versions that one read of
    /// the database examines, and the number of reads.
    private static let formerWindows = (size: Int64(2000), count: 25)

    /// Lists devices that the user no longer has. For each device, the answer contains the time and the cause of the
    /// change that ended the user's registration. For example, the registration was removed, or another user registered
    /// the device.
    private func former(of user: UserName, before: Int64?, _ hub: Hub) async throws(StorageError) -> HTTPResponse {
        let present = try await add(.tag(user.tag), hub, [], true).0
        var seen = Set(present.map(\.id))
        var found: [JSON] = []
        var (next, oldest) = (before, Timestamp?.none)
        for _ in 0..<Self.formerWindows.count {
            let page = try await store.formerRegistrations(
                with: user.tag, in: hub.id, before: next, window: Self.formerWindows.size)
            oldest = page.lookedBackTo ?? oldest
            for version in page.versions where seen.insert(version.id).inserted {
                guard let end = version.end, case .object(var members) = json(version) else { continue }
                members["endedAt"] = .string(end.at.iso8601)
                members["change"] = .string(end.cause.rawValue)
                found.append(.object(members))
            }
            next = page.next
            guard next != nil, found.count < Self.deviceLimit else { break }
        }
        return HTTPResponse(
            .ok,
            json: [
                "devices": .array(found), "lookedBackTo": oldest.map { .string($0.iso8601) } ?? .null,
                "next": next.map { .string(String($0)) } ?? .null,
            ])
    }

    private func users(_ user: UserName, isExact: Bool, _ hub: Hub) async throws(StorageError) -> [String] {
        let names = try await store.tagNames(
            beginningWith: user.tag.folded, after: nil, in: hub.id, limit: Self.userLimit)
        let found = isExact ? names.filter { $0 == user.tag.folded } : names
        return found.compactMap { name in (try? Tag(name)).flatMap { UserName(tag: $0) }?.spelling }
    }

    /// Returns users of the app backend who are not in `known`; none for a hub that the app backend does not use.
    private func usersWithoutDevices(
        _ user: UserName, isExact: Bool, _ hub: Hub, besides known: [String]
    ) async throws(StorageError) -> [String] {
        guard hub.id == backendHub.current?.id else { return [] }
        let found =
            if isExact {
                try await self.users.user(user.spelling).map { [$0] } ?? []
            } else {
                try await self.users.users(beginningWith: user.folded, after: nil, limit: Self.userLimit)
            }
        let names = Set(known.map { $0.lowercased() })
        return found.map(\.name).filter { !names.contains($0.lowercased()) }
    }

    private func add(
        _ filter: RegistrationQuery.Filter, _ hub: Hub, _ known: [RegistrationVersion], _ isComplete: Bool
    ) async throws(StorageError) -> ([RegistrationVersion], Bool) {
        let query = RegistrationQuery(hub: hub.id, filter: filter, limit: Self.deviceLimit, now: time.now)
        let page = try await store.registrations(query)
        let found = page.registrations.map {
            RegistrationVersion(sequence: 0, channel: ChannelID(rawValue: 0), $0, end: nil)
        }
        return (known + found, isComplete && page.next == nil)
    }

    private func json(_ device: RegistrationVersion) -> JSON {
        let user = device.tags.lazy.compactMap { UserName(tag: $0) }.first
        let digest = (try? digestKey.authenticationCode(for: Array(device.handle.text.utf8))) ?? []
        return [
            "registration": .string(device.id), "installation": device.installation.map(JSON.string) ?? .null,
            "platform": .string(device.platform.rawValue), "kind": device.template == nil ? "native" : "template",
            "handle": .string(device.handle.parts.first ?? ""),
            "handleDigest": .string(Hex.encode(Array(digest.prefix(4)))),
            "tags": .array(device.tags.map { .string($0.spelling) }),
            "user": user.map { .string($0.spelling) } ?? .null,
            "createdAt": .string(device.createdAt.iso8601),
            "expiresAt": device.expiresAt.map { .string($0.iso8601) } ?? .null,
        ]
    }

    // MARK: Sends that targeted a device

    private static let toldLimit = 20
    /// The maximum number of sends that one read of the database examines. It is limited so that other reads do not
    /// wait long.
    private static let window: Int64 = 2000
    private static let windows = 10

    private func sends(_ match: RouteMatch, _ hub: Hub) async throws(StorageError) -> HTTPResponse {
        let past = try await store.past(of: match["id"], in: hub.id)
        guard !past.versions.isEmpty else { return Self.unknown }
        var before = match.target.item("before")?.value.flatMap { Int64($0) }
        var audience = DeviceAudience(past.versions)
        var told: [JSON] = []
        var oldest: Timestamp?
        for _ in 0..<Self.windows {
            let found = try await store.sendTargets(in: hub.id, before: before, window: Self.window)
            for target in found.targets {
                oldest = target.at
                guard let registration = audience.registration(targetedBy: target) else { continue }
                told.append(try await json(target, registration, match["id"], hub))
                guard told.count < Self.toldLimit else { return answer(told, oldest, next: target.sequence) }
            }
            guard let next = found.next else { return answer(told, nil, next: nil) }
            before = next
        }
        return answer(told, oldest, next: before)
    }

    private func answer(_ told: [JSON], _ oldest: Timestamp?, next: Int64?) -> HTTPResponse {
        HTTPResponse(
            .ok,
            json: [
                "sends": .array(told), "lookedBackTo": oldest.map { .string($0.iso8601) } ?? .null,
                "next": next.map { .string(String($0)) } ?? .null,
            ])
    }

    private func json(
        _ target: SendTarget, _ registration: String, _ device: String, _ hub: Hub
    ) async throws(StorageError) -> JSON {
        let trace = try await traces.trace(target.id, of: device, in: hub.id)
        var members: [String: JSON] = [
            "id": .string(target.id.description), "cursor": .string(String(target.sequence)),
            "at": .string(target.at.iso8601), "registration": .string(registration),
            "expression": target.expression.map(JSON.string) ?? .null,
            "platform": target.platform.map { .string($0.rawValue) } ?? .null,
            "verdict": trace.map { .string($0.verdict.rawValue) } ?? .null,
        ]
        if let entry = try await store.send(target.id, in: hub.id) {
            let sends = SendAdministration(hubs: hubs, store: store, platforms: platforms)
            let row = sends.members(entry)
            for name in ["acceptedAt", "kind", "isToOneUser", "isConfidential", "text", "state"] {
                members[name] = row[name]
            }
            if members["isToOneUser"]?.bool == true { members["text"] = .null }
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

/// Decides which sends targeted a device, by its tags at the time of each send.
struct DeviceAudience {
    /// The versions of the device's registrations, each with the time at which the version began.
    private let versions: [(since: Timestamp, version: RegistrationVersion)]
    /// The tags of all versions, in lower case.
    private let tags: Set<String>
    private var expressions: [String: TagExpression?] = [:]

    /// Creates the audience of one device.
    /// - Parameter versions: The versions of the device's registrations, oldest first.
    init(_ versions: [RegistrationVersion]) {
        var ends: [Int64: Timestamp] = [:]
        self.versions = versions.map { version in
            let since = max(version.createdAt, ends[version.sequence] ?? version.createdAt)
            ends[version.sequence] = version.end?.at
            return (since, version)
        }
        tags = Set(versions.flatMap { $0.tags.map(\.folded) })
    }

    /// Returns the id of the first registration of the device that a send targeted; nil if the send targeted none.
    mutating func registration(targetedBy target: SendTarget) -> String? {
        guard let expression = expression(target.expression) else { return nil }
        return versions.first { since, version in
            let wasThere = since <= target.at && version.end.map { $0.at > target.at } ?? true
            guard wasThere, target.platform.map({ $0 == version.platform && version.template == nil }) ?? true else {
                return false
            }
            return expression.map { $0.matches(Set(version.tags)) } ?? true
        }?.version.id
    }

    /// Returns whether a tag expression names one of the device's tags, or has a negation. Any other expression cannot
    /// match the device.
    ///
    /// This check avoids parsing most expressions, because most sends go to other single devices. It reads bytes, not
    /// characters, because one search examines thousands of expressions.
    private func mayMatch(_ text: String) -> Bool {
        text.utf8.contains(UInt8(ascii: "!"))
            || text.utf8.split(whereSeparator: Self.separatesTags).contains { word in
                tags.contains(Substring(word).lowercased())
            }
    }

    private static func separatesTags(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "&"), UInt8(ascii: "|"), UInt8(ascii: " "): true
        default: false
        }
    }

    /// Parses a tag expression, unless it cannot match the device.
    /// - Returns: nil if the text is not an expression, or if it names none of the device's tags and has no negation.
    ///   If `text` is nil, returns `.some(nil)`, which stands for all devices.
    private mutating func expression(_ text: String?) -> TagExpression?? {
        guard let text else { return .some(nil) }
        guard mayMatch(text) else { return nil }
        if let known = expressions[text] { return known.map { .some($0) } ?? nil }
        let parsed = try? TagExpression(text)
        expressions[text] = parsed
        return parsed.map { .some($0) } ?? nil
    }
}
