import MartletCore
import MartletModel

/// Keeps payloads for their addressees and sends these the ids. Who may fetch a payload is settled before anybody is
/// told of it; where that fails, nothing stays.
struct PayloadSender: Sendable {
    let backend: Backend

    /// Channels looked at, and addressees added, at once.
    private static let pageSize = 2000

    /// What is sent of a payload, by its id.
    typealias Announcement = (PayloadID) -> DataMessage

    func send(
        _ draft: PayloadDraft, to audience: SendAudience, in hub: SendingHub, as announcement: Announcement
    ) async throws(BackendError) -> PayloadID {
        let id: PayloadID
        switch try await backend.stored({ () throws(StorageError) in
            try await backend.payloads.addPayload(draft, quota: backend.settings.payloads.quota)
        }) {
        case .added(let new): id = new
        case .overQuota: throw .overQuota
        }
        do throws(BackendError) {
            let messages = try hub.messages(announcement(id))
            try await addAddressees(audience, of: id, in: hub)
            // Before anybody is told: an id that a device hears of can be fetched.
            try await backend.stored { () throws(StorageError) in try await backend.payloads.publish(id) }
            try await notify(draft, audience, in: hub, messages)
        } catch {
            // Where this fails too the payload expires.
            try? await backend.payloads.withdraw(id)
            throw error
        }
        return id
    }

    private func addAddressees(
        _ audience: SendAudience, of id: PayloadID, in hub: SendingHub
    ) async throws(BackendError) {
        switch audience {
        case .users(let users):
            try await backend.stored { () throws(StorageError) in
                try await backend.payloads.addAddressees(users.map(\.folded), of: id)
            }
        case .tags(let expression):
            for platform in hub.platforms {
                try await addUsers(
                    AudienceQuery(
                        hub: hub.id, platform: platform.descriptor.platform, expression: expression,
                        throughChannel: ChannelID(rawValue: .max), limit: Self.pageSize, now: backend.time.now),
                    to: id)
            }
        }
    }

    /// Adds the users of the channels that an expression matches.
    private func addUsers(_ query: AudienceQuery, to id: PayloadID) async throws(BackendError) {
        var query = query
        while true {
            let page = try await backend.stored { [query] () throws(StorageError) in
                try await backend.devices.tags(beginningWith: UserName.tagPrefix, of: query)
            }
            let users = page.tags.compactMap { UserName(tag: $0)?.folded }
            if !users.isEmpty {
                try await backend.stored { () throws(StorageError) in
                    try await backend.payloads.addAddressees(users, of: id)
                }
            }
            guard let next = page.next else { return }
            query.after = next
        }
    }

    private func notify(
        _ draft: PayloadDraft, _ audience: SendAudience, in hub: SendingHub,
        _ messages: [(platform: PlatformID, message: Message)]
    ) async throws(BackendError) {
        for expression in audience.expressions {
            for (platform, message) in messages {
                do throws(NotificationIntakeError) {
                    _ = try await backend.intake.accept(
                        .native(platform, message), to: .audience(expression), in: hub.id,
                        expiry: .until(draft.expiresAt, at: backend.time.now), isConfidential: draft.kind != .rich)
                } catch {
                    throw BackendError(error)
                }
            }
        }
    }
}
