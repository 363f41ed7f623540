import MartletCore
import MartletModel

/// A sender that stores payloads and sends their ids to the addressees. The set of users who may fetch a payload is
/// stored before the first push is sent; if that fails, nothing remains stored.
struct PayloadSender: Sendable {
    let backend: Backend

    /// The number of channels that are read, and of addressees that are added, in one step.
    private static let pageSize = 2000

    /// A function that makes the message that announces a payload. It is given the payload's id.
    typealias Announcement = (PayloadID) -> DataMessage

    struct Outcome {
        let result: Result<PayloadID, BackendError>
        /// Whether the content of the draft must be kept, because a stored payload refers to it. Also true if the send
        /// failed after its first push, because a repeated request then finishes the send.
        let keepsContent: Bool
    }

    /// Stores a payload and sends its id. A repeated request is recognized before anything is checked that may have
    /// changed meanwhile, such as the hub's credentials.
    /// - Parameter request: The identity by which a repeated request is recognized; nil if the request has no
    ///   idempotency key.
    func send(
        _ draft: PayloadDraft, to audience: SendAudience, request: RequestIdentity? = nil,
        as announcement: Announcement
    ) async -> Outcome {
        do throws(BackendError) {
            if let record = try await backend.record(of: request) {
                let id = try await resume(record, draft, to: audience, as: announcement)
                return Outcome(result: .success(id), keepsContent: false)
            }
            return try await begin(draft, to: audience, in: try backend.hub.sending(), request, as: announcement)
        } catch {
            return Outcome(result: .failure(error), keepsContent: false)
        }
    }

    private func begin(
        _ draft: PayloadDraft, to audience: SendAudience, in hub: SendingHub, _ request: RequestIdentity?,
        as announcement: Announcement
    ) async throws(BackendError) -> Outcome {
        let id = try await add(draft)
        var record: SendRecord?
        var accepted = 0
        do throws(BackendError) {
            let messages = try hub.messages(announcement(id))
            try await addAddressees(audience, of: id, in: hub)
            // The payload is published before the first push is sent, so that a device that receives an id can fetch
            // the payload.
            try await backend.stored { () throws(StorageError) in try await backend.payloads.publish(id) }
            if let request {
                let (begun, isOther) = try await backend.begin(request, payloads: [id])
                guard !isOther else {
                    try? await backend.payloads.withdraw(id)
                    let id = try await resume(begun, draft, to: audience, as: announcement)
                    return Outcome(result: .success(id), keepsContent: false)
                }
                record = begun
            }
            try await notify(draft, until: draft.expiresAt, audience, in: hub, messages, record, &accepted)
            try await backend.complete(record)
            return Outcome(result: .success(id), keepsContent: true)
        } catch {
            // If some pushes were accepted, the record and the payload are kept, so that a repeated request sends the
            // missing pushes.
            if record != nil, accepted > 0 { return Outcome(result: .failure(error), keepsContent: true) }
            await backend.remove(record)
            // If the withdrawal fails too, the payload remains until it expires.
            try? await backend.payloads.withdraw(id)
            throw error
        }
    }

    private func add(_ draft: PayloadDraft) async throws(BackendError) -> PayloadID {
        let addition = try await backend.stored { () throws(StorageError) in
            try await backend.payloads.addPayload(draft, quota: backend.settings.payloads.quota)
        }
        guard case .added(let id) = addition else { throw .overQuota }
        return id
    }

    /// Finishes a send that another attempt of the request began.
    private func resume(
        _ record: SendRecord, _ draft: PayloadDraft, to audience: SendAudience, as announcement: Announcement
    ) async throws(BackendError) -> PayloadID {
        guard let id = record.payloads.first.flatMap(\.self) else { throw .keyReused }
        guard !record.isComplete else { return id }
        let end = record.startedAt + (draft.expiresAt - draft.createdAt)
        guard end > backend.time.now else { return id }
        let hub = try backend.hub.sending()
        var accepted = 0
        try await notify(
            draft, until: end, audience, in: hub, try hub.messages(announcement(id)), record, &accepted)
        try await backend.complete(record)
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

    /// Adds the users of all channels that a query matches to the users who may fetch a payload.
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

    /// Sends the id of a payload.
    /// - Parameter accepted: Incremented for each push that the intake accepts, even if an earlier attempt already sent
    ///   the push.
    private func notify(
        _ draft: PayloadDraft, until end: Timestamp, _ audience: SendAudience, in hub: SendingHub,
        _ messages: [(platform: PlatformID, message: Message)], _ record: SendRecord?, _ accepted: inout Int
    ) async throws(BackendError) {
        for (number, expression) in audience.expressions.enumerated() {
            for (platform, message) in messages {
                do throws(NotificationIntakeError) {
                    _ = try await backend.intake.accept(
                        .native(platform, message), to: .audience(expression), in: hub.id,
                        expiry: .until(end, at: backend.time.now), isConfidential: draft.kind != .rich,
                        request: record?.identity(ofPush: "\(number) \(platform.rawValue)"),
                        author: .user(draft.sender))
                    accepted += 1
                } catch {
                    throw BackendError(error)
                }
            }
        }
    }
}
