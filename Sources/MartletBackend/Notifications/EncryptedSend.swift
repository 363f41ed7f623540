import MartletCore
import MartletCrypto
import MartletModel

/// One send of ciphertexts, each to its own device. A ciphertext that fits is carried in the push; otherwise it is
/// stored, and the push carries its id.
///
/// Before the first push is sent, everything is checked, and all ciphertexts that do not fit are stored. If a send is
/// interrupted after its first push, a repetition of the request finishes the send. This requires an idempotency key in
/// the request.
struct EncryptedSend: Sendable {
    let backend: Backend
    let caller: Caller
    let body: EncryptedBody
    /// The identity by which a repeated request is recognized; nil if the request has no idempotency key.
    let request: RequestIdentity?

    /// The result of the send for one device.
    struct Sent: Sendable {
        let device: String
        /// The id of the stored ciphertext; nil if the push itself carries the ciphertext.
        let payload: PayloadID?
    }

    /// A push that is ready to be sent.
    private struct Push: Sendable {
        let id: NotificationID
        let sent: Sent
        let content: Notification.Content
        let audience: TagExpression
    }

    func run() async throws(BackendError) -> [Sent] {
        let hub = try backend.hub.hub().id
        try backend.check(caller, maySendTo: .users([body.recipient]))
        if let record = try await backend.record(of: request) { return try await resume(record, in: hub) }
        let devices = try await devices(in: hub)
        let expiry = backend.time.now + body.expiresIn
        var stored: [PayloadID] = []
        var record: SendRecord?
        var accepted = 0
        do throws(BackendError) {
            var pushes: [Push] = []
            for (ciphertext, device) in zip(body.ciphertexts, devices) {
                pushes.append(try await push(ciphertext, to: device, expiresAt: expiry, stored: &stored))
            }
            if let request {
                let (begun, isOther) = try await backend.begin(request, payloads: pushes.map(\.sent.payload))
                guard !isOther else {
                    for id in stored { try? await backend.payloads.withdraw(id) }
                    return try await resume(begun, in: hub)
                }
                record = begun
            }
            for push in pushes {
                try await accept(push, in: hub, expiresAt: expiry, record)
                accepted += 1
                stored.removeAll { $0 == push.sent.payload }
            }
            try await backend.complete(record)
            return pushes.map(\.sent)
        } catch {
            // If some pushes were accepted, the record and the stored ciphertexts are kept, so that a repeated request
            // sends the missing pushes.
            if record != nil, accepted > 0 { throw error }
            await backend.remove(record)
            for id in stored { try? await backend.payloads.withdraw(id) }
            throw error
        }
    }

    /// Finishes a send that another attempt of the request began. Skips devices that are gone or whose key has changed.
    private func resume(_ record: SendRecord, in hub: Hub.ID) async throws(BackendError) -> [Sent] {
        let sent = zip(body.ciphertexts, record.payloads).map { Sent(device: $0.device, payload: $1) }
        let expiry = record.startedAt + body.expiresIn
        guard !record.isComplete, expiry > backend.time.now else { return sent }
        let known = try await knownDevices(in: hub)
        for (ciphertext, payload) in zip(body.ciphertexts, record.payloads) {
            guard let device = known[ciphertext.device], device.key.fingerprint == ciphertext.fingerprint,
                let push = try push(ciphertext, to: device, storedAs: payload)
            else { continue }
            try await accept(push, in: hub, expiresAt: expiry, record)
        }
        try await backend.complete(record)
        return sent
    }

    private func knownDevices(in hub: Hub.ID) async throws(BackendError) -> [String: KeyedDevice] {
        Dictionary(
            try await backend.keyedDevices(of: body.recipient, for: caller, in: hub).map { ($0.registration, $0) }
        ) { first, _ in first }
    }

    /// Returns the devices of the ciphertexts, in the order of the ciphertexts.
    /// - Throws: `.staleKeys` if a device is not the recipient's, has no key, or has a key other than the one that the
    ///   ciphertext was made with.
    private func devices(in hub: Hub.ID) async throws(BackendError) -> [KeyedDevice] {
        let known = try await knownDevices(in: hub)
        var devices: [KeyedDevice] = []
        var stale: [String] = []
        for ciphertext in body.ciphertexts {
            if let device = known[ciphertext.device], device.key.fingerprint == ciphertext.fingerprint {
                devices.append(device)
            } else {
                stale.append(ciphertext.device)
            }
        }
        guard stale.isEmpty else { throw .staleKeys(of: stale) }
        return devices
    }

    private func push(
        _ ciphertext: EncryptedBody.Ciphertext, to device: KeyedDevice, expiresAt: Timestamp,
        stored: inout [PayloadID]
    ) async throws(BackendError) -> Push {
        if let push = try push(ciphertext, to: device, storedAs: nil) { return push }
        let payload = try await store(ciphertext, expiresAt: expiresAt, into: &stored)
        guard let push = try push(ciphertext, to: device, storedAs: payload) else {
            throw .messageTooLarge("The message is too long for the pushes of \(device.platform).")
        }
        return push
    }

    /// Creates the push that carries a ciphertext, or the id of a stored ciphertext, to a device.
    /// - Parameter payload: The id of the stored ciphertext; nil if the push carries the ciphertext.
    /// - Returns: nil if the push is too large for the platform.
    private func push(
        _ ciphertext: EncryptedBody.Ciphertext, to device: KeyedDevice, storedAs payload: PayloadID?
    ) throws(BackendError) -> Push? {
        let id = backend.intake.makeID()
        guard let platform = backend.platforms[device.platform], let tag = Tag.registration(device.registration) else {
            throw .staleKeys(of: [device.registration])
        }
        let texts: [DataMessage.Text] =
            if let payload {
                [.init(.encryptedID, payload.description)]
            } else {
                [
                    .init(.encrypted, Base64.encode(ciphertext.bytes)),
                    .init(platform.notificationIDName, id.description),
                ]
            }
        guard let message = try message(texts, on: platform) else { return nil }
        return Push(
            id: id, sent: Sent(device: device.registration, payload: payload),
            content: .native(device.platform, message),
            audience: .and([.tag(body.recipient.tag), .tag(tag)]))
    }

    /// Renders the texts as a message for a platform.
    /// - Returns: nil if the message is too large for the platform.
    private func message(
        _ texts: [DataMessage.Text], on platform: any PushPlatform.Type
    ) throws(BackendError) -> Message? {
        do throws(PushServiceError) {
            return try platform.message(carrying: DataMessage(texts: texts, alert: body.message))
        } catch {
            guard error.kind == .messageTooLarge else { throw .badMessage(error.description) }
            return nil
        }
    }

    private func store(
        _ ciphertext: EncryptedBody.Ciphertext, expiresAt: Timestamp, into stored: inout [PayloadID]
    ) async throws(BackendError) -> PayloadID {
        let draft = PayloadDraft(
            kind: .encrypted, sender: caller.name.folded, content: .text(ciphertext.bytes),
            device: ciphertext.device, createdAt: backend.time.now, expiresAt: expiresAt)
        let addition = try await backend.stored { () throws(StorageError) in
            try await backend.payloads.addPayload(draft, quota: backend.settings.payloads.quota)
        }
        guard case .added(let id) = addition else { throw .overQuota }
        stored.append(id)
        try await backend.stored { () throws(StorageError) in
            try await backend.payloads.addAddressees([body.recipient.folded], of: id)
            try await backend.payloads.publish(id)
        }
        return id
    }

    private func accept(
        _ push: Push, in hub: Hub.ID, expiresAt: Timestamp, _ record: SendRecord?
    ) async throws(BackendError) {
        do throws(NotificationIntakeError) {
            _ = try await backend.intake.accept(
                push.content, to: .audience(push.audience), in: hub, id: push.id,
                expiry: .until(expiresAt, at: backend.time.now), isConfidential: true,
                request: record?.identity(ofPush: push.sent.device), author: .user(caller.name.folded))
        } catch {
            throw BackendError(error)
        }
    }
}
