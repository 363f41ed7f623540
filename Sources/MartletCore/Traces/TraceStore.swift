/// Answers what was when: what the explanation of a push is made from.
public protocol TraceStore: Sendable {
    /// What is known of a device, the newest versions where there are too many.
    /// - Parameter device: The id of a registration, or of an installation, which means all its registrations.
    func past(of device: String, in hub: Hub.ID) async throws(StorageError) -> RegistrationPast

    /// A notification with its deliveries, or nil where the hub has none of this id.
    func traced(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> TracedNotification?

    /// What is kept of some members of a delivery, all of one point in time; nil where the delivery is gone.
    func evidence(
        of members: [AudienceMember], in delivery: Delivery.ID
    ) async throws(StorageError) -> DeliveryEvidence?

    /// What a device has said of a notification.
    /// - Parameter device: The id of the registration.
    func receipts(
        of notification: NotificationID, from device: String, in hub: Hub.ID
    ) async throws(StorageError) -> [DeviceReceipt]
}
