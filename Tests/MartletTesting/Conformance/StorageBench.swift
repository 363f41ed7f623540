import MartletCore
import MartletModel

/// A storage under test, with short helper functions for the requirements.
struct StorageBench: Sendable {
    let storage: any StorageConformance.Storage
    let now = Timestamp(seconds: 1_700_000_000)
    let platform = PlatformID(rawValue: "pigeon")
    let otherPlatform = PlatformID(rawValue: "parrot")

    init(_ storage: any StorageConformance.Storage) {
        self.storage = storage
    }

    func hub(_ name: String = "loft") async throws -> Hub.ID {
        try require(try await storage.createHub(name: name, settings: HubSettings(), at: now)).id
    }

    /// Returns the draft of a registration. The key of its handle is the handle in lower case.
    func draft(
        _ handle: String, _ tags: [String] = [], on platform: PlatformID? = nil, template: Template? = nil,
        variables: [String: String] = [:], expiresAt: Timestamp? = nil, takesHandle: Bool = false
    ) throws -> RegistrationDraft {
        RegistrationDraft(
            platform: platform ?? self.platform, handle: PushHandle(handle), handleKey: handle.lowercased(),
            tags: try tags.map { try Tag($0) }, template: template, pushVariables: variables, expiresAt: expiresAt,
            takesHandle: takesHandle)
    }

    @discardableResult
    func put(
        _ id: String, _ handle: String, _ tags: [String] = [], in hub: Hub.ID, on platform: PlatformID? = nil,
        template: Template? = nil, variables: [String: String] = [:], expiresAt: Timestamp? = nil,
        takesHandle: Bool = false, condition: WriteCondition = .none, at timestamp: Timestamp? = nil
    ) async throws -> Registration {
        let draft = try draft(
            handle, tags, on: platform, template: template, variables: variables, expiresAt: expiresAt,
            takesHandle: takesHandle)
        return try await storage.apply(.put(draft, id: id, condition: condition), in: hub, at: timestamp ?? now).get()
    }

    /// Puts a registration, and returns the reason why the put is refused; nil if it succeeds.
    func refusalOfPut(
        _ id: String, _ handle: String, in hub: Hub.ID, _ condition: WriteCondition = .none,
        at timestamp: Timestamp? = nil
    ) async throws -> RegistrationRefusal? {
        let change = RegistrationChange.put(try draft(handle), id: id, condition: condition)
        return try await refusal(of: change, in: hub, at: timestamp)
    }

    /// Deletes a registration, and returns the reason why the deletion is refused; nil if it succeeds.
    func refusalOfDelete(
        _ id: String, in hub: Hub.ID, _ condition: WriteCondition = .none, at timestamp: Timestamp? = nil
    ) async throws -> RegistrationRefusal? {
        try await refusal(of: .delete(id: id, condition: condition), in: hub, at: timestamp)
    }

    func registration(_ id: String, in hub: Hub.ID, at timestamp: Timestamp? = nil) async throws -> Registration? {
        try await storage.registration(id, in: hub, at: timestamp ?? now)
    }

    /// Returns the ids of all registrations of a listing: one array for each page.
    func list(
        _ hub: Hub.ID, _ filter: RegistrationQuery.Filter = .all, pageSize: Int = 100, at timestamp: Timestamp? = nil
    ) async throws -> [[String]] {
        var pages: [[String]] = []
        var after: Int64?
        repeat {
            let page = try await storage.registrations(
                RegistrationQuery(hub: hub, filter: filter, after: after, limit: pageSize, now: timestamp ?? now))
            pages.append(page.registrations.map(\.id))
            after = page.next
        } while after != nil
        return pages
    }

    private func refusal(
        of change: RegistrationChange, in hub: Hub.ID, at timestamp: Timestamp?
    ) async throws -> RegistrationRefusal? {
        switch try await storage.apply(change, in: hub, at: timestamp ?? now) {
        case .success: nil
        case .failure(let refusal): refusal
        }
    }
}

// MARK: Installations

extension StorageBench {
    func installation(
        _ id: String, _ rows: [String: RegistrationDraft], document: String = "{}", expiresAt: Timestamp? = nil
    ) -> InstallationDraft {
        InstallationDraft(
            id: id, document: Array(document.utf8), expiresAt: expiresAt,
            rows: rows.sorted { $0.key < $1.key }.map { InstallationRow(slot: $0.key, registration: $0.value) })
    }

    @discardableResult
    func put(
        _ draft: InstallationDraft, in hub: Hub.ID, _ condition: WriteCondition = .none, at timestamp: Timestamp? = nil
    ) async throws -> InstallationRecord {
        try await storage.apply(InstallationChange.put(draft, condition: condition), in: hub, at: timestamp ?? now)
            .get()
    }

    /// Writes an installation, and returns the reason why the write is refused; nil if it succeeds.
    func refusal(
        ofInstallation change: InstallationChange, in hub: Hub.ID, at timestamp: Timestamp? = nil
    ) async throws -> RegistrationRefusal? {
        switch try await storage.apply(change, in: hub, at: timestamp ?? now) {
        case .success: nil
        case .failure(let refusal): refusal
        }
    }

    func installation(_ id: String, in hub: Hub.ID, at timestamp: Timestamp? = nil) async throws -> InstallationRecord?
    {
        try await storage.installation(id, in: hub, at: timestamp ?? now)
    }

    /// Returns the registrations of a hub, up to 1000.
    func rows(_ hub: Hub.ID, at timestamp: Timestamp? = nil) async throws -> [Registration] {
        try await storage.registrations(RegistrationQuery(hub: hub, filter: .all, limit: 1000, now: timestamp ?? now))
            .registrations
    }
}

// MARK: Audiences

extension StorageBench {
    /// A whole audience, read in pages.
    struct Audience: Equatable {
        var channels: [ChannelID] = []
        /// The sequence numbers of the members' registrations. In a native send each of them is 0.
        var registrations: [Int64] = []
        var handles: [String] = []
        /// For each member of a template send, the body of the template followed by the values of the push variables.
        var rendered: [[String]] = []
        var skipped = 0

        var members: [AudienceMember] {
            zip(channels, registrations).map { AudienceMember(channel: $0, registration: $1) }
        }
    }

    func audience(
        _ hub: Hub.ID, _ expression: String? = nil, on platform: PlatformID? = nil,
        through: ChannelID = ChannelID(rawValue: .max), among: [ChannelID]? = nil, pageSize: Int = 1000,
        at timestamp: Timestamp? = nil
    ) async throws -> Audience {
        try await audience(
            AudienceQuery(
                hub: hub, platform: platform ?? self.platform, expression: try expression.map { try TagExpression($0) },
                throughChannel: through, among: among?.map { AudienceMember(channel: $0) }, limit: pageSize,
                now: timestamp ?? now))
    }

    /// Reads the whole audience of a template send.
    func templateAudience(
        _ hub: Hub.ID, _ expression: String? = nil, on platform: PlatformID? = nil, through: Int64 = .max,
        among: [AudienceMember]? = nil, pageSize: Int = 1000, at timestamp: Timestamp? = nil
    ) async throws -> Audience {
        try await audience(
            AudienceQuery(
                hub: hub, platform: platform ?? self.platform, kind: .template,
                expression: try expression.map { try TagExpression($0) }, throughChannel: .none,
                throughRegistration: through, among: among, limit: pageSize, now: timestamp ?? now))
    }

    func count(_ hub: Hub.ID, _ expression: String? = nil) async throws -> AudienceCount {
        try await storage.audienceCount(
            AudienceCountQuery(hub: hub, expression: try expression.map { try TagExpression($0) }, now: now))
    }

    func audience(_ query: AudienceQuery) async throws -> Audience {
        var query = query
        var whole = Audience()
        while true {
            let page = try await storage.audience(query)
            whole.channels += page.members.map(\.channel)
            whole.registrations += page.members.map(\.registration)
            whole.rendered += page.bindingIndices.map { page.renderings[Int($0)] }.map { rendering in
                [rendering.template.body] + rendering.variables.values.sorted()
            }
            whole.handles += (0..<page.count).map { page.withHandle($0) { String(decoding: $0, as: UTF8.self) } }
            whole.skipped += page.skipped
            guard !page.isLast else { return whole }
            query.after = try require(page.members.last)
        }
    }
}

// MARK: Notifications

extension StorageBench {
    func message(_ bytes: [UInt8] = [1]) -> Notification.Content {
        .native(platform, Message(body: bytes))
    }

    func notificationDraft(
        _ hub: Hub.ID, _ content: Notification.Content? = nil, to target: Notification.Target = .audience(nil),
        dueIn seconds: Int64? = nil, request: RequestIdentity? = nil, at timestamp: Timestamp? = nil
    ) -> NotificationDraft {
        let timestamp = timestamp ?? now
        let due = seconds.map { timestamp + .seconds($0) }
        return NotificationDraft(
            id: NotificationID(at: timestamp), hub: hub, content: content ?? message(), target: target,
            acceptedAt: timestamp, dueAt: due, expiresAt: (due ?? timestamp) + .seconds(60), request: request)
    }

    /// Accepts a notification that begins at once and has one delivery, and returns this delivery.
    func accept(
        _ hub: Hub.ID, to target: Notification.Target = .audience(nil), _ content: Notification.Content? = nil,
        at timestamp: Timestamp? = nil
    ) async throws -> Delivery {
        let deliveries = try await accepted(notificationDraft(hub, content, to: target, at: timestamp)).deliveries
        try require(deliveries.count, is: 1)
        return deliveries[0]
    }

    func accepted(
        _ draft: NotificationDraft
    ) async throws -> (notification: Notification, deliveries: [Delivery]) {
        guard case .accepted(let notification, let deliveries) = try await storage.accept(draft) else {
            throw ConformanceFailure(description: "a new notification was not accepted")
        }
        return (notification, deliveries)
    }

    func retry(_ channel: Int64, dueIn seconds: Int64, attempts: Int = 1) -> Retry {
        Retry(
            member: AudienceMember(channel: ChannelID(rawValue: channel)), attempts: attempts,
            dueAt: now + .seconds(seconds), outcome: .throttled, reason: "Storm")
    }

    func unfinished() async throws -> [Delivery.ID] {
        try await storage.unfinished(after: .none, limit: 1000).map(\.delivery.id)
    }

    func templateMembers(of delivery: Delivery) async throws -> [AudienceMember] {
        try await storage.audience(
            AudienceQuery(
                hub: delivery.notification.hub, platform: delivery.platform, kind: .template, expression: nil,
                throughChannel: delivery.bounds.channel, throughRegistration: delivery.bounds.registration, limit: 100,
                now: now)
        ).members
    }

    /// Records refusals of some members. The refused handles are `to1`, `to2`, and so on.
    func refuse(_ members: [AudienceMember], of delivery: Delivery) async throws {
        let refusals = members.enumerated().map { index, member in
            Refusal(
                member: member, handle: PushHandle("to\(index + 1)"), outcome: .badChannel, reason: "Gone", at: now)
        }
        try await storage.record(
            DeliveryStep(delivery: delivery.id, isFannedOut: true, state: .processing, refusals: refusals))
    }

    func refusals(
        of notification: Notification, in hub: Hub.ID, pageSize: Int
    ) async throws -> [RefusalRecord] {
        var records: [RefusalRecord] = []
        var position: RefusalPosition? = .start
        while let after = position {
            let page = try await storage.refusals(of: notification.id, in: hub, after: after, limit: pageSize)
            try require(page.records.count <= pageSize, is: true)
            records += page.records
            position = page.next
        }
        return records
    }
}
