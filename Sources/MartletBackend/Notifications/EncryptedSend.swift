import MartletCore
import MartletCrypto
import MartletModel

/// One send of ciphertexts, each to its device alone: in the push where it fits, and stored, with its id in the push,
/// where it does not.
///
/// All that can be refused is, and all that is stored is stored, before the first push goes out.
struct EncryptedSend: Sendable {
    let backend: Backend
    let caller: Caller
    let body: EncryptedBody

    /// What went to a device.
    struct Sent: Sendable {
        let device: String
        /// nil: the push carries the ciphertext itself.
        let payload: PayloadID?
    }

    /// A push that is ready to go.
    private struct Push: Sendable {
        let id: NotificationID
        let sent: Sent
        let content: Notification.Content
        let audience: TagExpression
    }

    func run() async throws(BackendError) -> [Sent] {
        let hub = try backend.hub.hub().id
        try backend.check(caller, maySendTo: .users([body.recipient]))
        let devices = try await devices(in: hub)
        let expiry = backend.time.now + body.expiresIn
        var pushes: [Push] = []
        var stored: [PayloadID] = []
        do throws(BackendError) {
            for (ciphertext, device) in zip(body.ciphertexts, devices) {
                let push = try await push(ciphertext, to: device, expiresAt: expiry, stored: &stored)
                pushes.append(push)
            }
            for push in pushes {
                try await accept(push, in: hub, expiresAt: expiry)
                stored.removeAll { $0 == push.sent.payload }
            }
        } catch {
            for id in stored { try? await backend.payloads.withdraw(id) }
            throw error
        }
        return pushes.map(\.sent)
    }

    /// The devices of the ciphertexts, in their order.
    /// - Throws: Where one has another key than the ciphertext was made with, or none, or is not the recipient's.
    private func devices(in hub: Hub.ID) async throws(BackendError) -> [KeyedDevice] {
        let known = Dictionary(
            try await backend.keyedDevices(of: body.recipient, for: caller, in: hub).map { ($0.registration, $0) }
        ) { first, _ in first }
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
        let id = backend.intake.makeID()
        guard let platform = backend.platforms[device.platform], let tag = Tag.registration(device.registration) else {
            throw .staleKeys(of: [device.registration])
        }
        var payload: PayloadID?
        var message = try message(
            [
                .init("encrypted", Base64.encode(ciphertext.bytes)),
                .init(platform.notificationIDName, id.description),
            ], on: platform)
        if message == nil {
            let stored = try await store(ciphertext, expiresAt: expiresAt, into: &stored)
            message = try self.message([.init("encryptedId", stored.description)], on: platform)
            payload = stored
        }
        guard let message else {
            throw .messageTooLarge("The message is too long for the pushes of \(device.platform).")
        }
        return Push(
            id: id, sent: Sent(device: device.registration, payload: payload),
            content: .native(device.platform, message),
            audience: .and([.tag(body.recipient.tag), .tag(tag)]))
    }

    /// - Returns: nil where it is too large for the platform.
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

    private func accept(_ push: Push, in hub: Hub.ID, expiresAt: Timestamp) async throws(BackendError) {
        do throws(NotificationIntakeError) {
            _ = try await backend.intake.accept(
                push.content, to: .audience(push.audience), in: hub, id: push.id,
                expiry: .until(expiresAt, at: backend.time.now), isConfidential: true)
        } catch {
            throw BackendError(error)
        }
    }
}
