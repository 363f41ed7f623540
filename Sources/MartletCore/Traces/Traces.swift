import MartletModel

/// Explains the result of a notification for a device: "why did it not arrive?"
public struct Traces: Sendable {
    private let store: any TraceStore
    private let maps: any ProgressMaps
    private let platforms: PushPlatformList
    private let messageIDs: MessageIDKey

    public init(
        store: any TraceStore, maps: any ProgressMaps, platforms: PushPlatformList, messageIDs: MessageIDKey
    ) {
        self.store = store
        self.maps = maps
        self.platforms = platforms
        self.messageIDs = messageIDs
    }

    /// Returns the trace of a notification for a device.
    /// - Parameter device: The id of a registration, or of an installation, which stands for all its registrations. For
    ///   an unknown id, the trace says that the device is unknown.
    /// - Returns: nil if the hub does not have the notification.
    public func trace(
        _ id: NotificationID, of device: String, in hub: Hub.ID
    ) async throws(StorageError) -> DeviceTrace? {
        guard var traced = try await store.traced(id, in: hub) else { return nil }
        traced.addWaitingRest()
        let reasoning = TraceReasoning(
            traced: traced, past: try await store.past(of: device, in: hub), platforms: platforms,
            messageIDs: messageIDs)
        var evidence: [Delivery.ID: DeliveryEvidence] = [:]
        for progress in traced.deliveries {
            let members = reasoning.members(in: progress.delivery)
            evidence[progress.delivery.id] = try await self.evidence(of: members, in: progress.delivery)
        }
        var receipts: [DeviceReceipt] = []
        let pushes = reasoning.pushes(evidence).map { complete($0, of: traced.notification) }
        for registration in Set(pushes.map(\.registration.id)).sorted() {
            receipts += try await store.receipts(of: id, from: registration, in: hub)
        }
        var trace = DeviceTrace(
            notification: traced.notification, device: device, pushes: pushes, receipts: receipts)
        trace.control = traced.control
        trace.hasEnded = traced.hasEnded
        trace.controlledAt = traced.controlledAt
        trace.origin = traced.origin
        return trace
    }

    /// Returns the stored records of members in a delivery and, if the delivery is unfinished, the members in its
    /// progress map. Another process may send the delivery: then there is no map here, and the records say which
    /// members were reached.
    private func evidence(
        of members: [AudienceMember], in delivery: Delivery
    ) async throws(StorageError) -> DeliveryEvidence? {
        for _ in 0..<2 {
            guard var found = try await store.evidence(of: members, in: delivery.id) else { return nil }
            if found.progress.state.isFinal { return found }
            if let map = try maps.existingMap(for: delivery.id, through: delivery.lastNumber) {
                for member in members where map.contains(member) { found.members[member]?.isReached = true }
                return found
            }
            if found.progress.cursor == .none { return found }
            // The map is gone because the delivery has ended in the meantime. So the records are read again.
        }
        return try await store.evidence(of: members, in: delivery.id)
    }

    /// Adds the message that is or was sent to the registration, rendered for the registration's version in the trace.
    private func complete(_ push: PushTrace, of notification: Notification) -> PushTrace {
        guard push.isMember, let platform = platforms[push.registration.platform] else { return push }
        var push = push
        switch notification.content {
        case .native(_, let message):
            push.payload = platform.normalized(message, at: notification.acceptedAt)
        case .template(let properties):
            guard let template = push.registration.template else { return push }
            var renderer = TemplateRenderer(
                properties, on: platform, at: notification.acceptedAt, templates: CompiledTemplates())
            let rendering = TemplateBinding(
                id: TemplateBinding.ID(template: 1, variables: 1), template: template,
                variables: push.registration.pushVariables)
            if case .message(let message) = renderer.message(for: rendering) { push.payload = message }
        case .message(let content):
            var renderer = ComposedRenderer(ComposedRendering(content, of: notification, on: platform))
            let language = content.languages.index(forDeviceWith: push.registration.tags)
            let variables = push.registration.pushVariables
            let variant = MessageVariant(
                id: MessageVariant.ID(language: language, variables: variables.isEmpty ? 0 : 1), variables: variables)
            if case .message(let message) = renderer.message(for: variant) { push.payload = message }
        }
        push.appearance = push.payload.flatMap { platform.shown($0) }
        return push
    }
}
