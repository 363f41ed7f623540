/// Reads the past states from which the trace of a push is made.
public protocol TraceStore: Sendable {
    /// The history of a device; the newest versions if there are too many.
    /// - Parameter device: The id of a registration, or of an installation, which stands for all its registrations.
    func past(of device: String, in hub: Hub.ID) async throws(StorageError) -> RegistrationPast

    /// A notification with its deliveries; nil if the hub has none with this id.
    func traced(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> TracedNotification?

    /// The records of some members of a delivery, all of one point in time; nil if the delivery was deleted.
    func evidence(
        of members: [AudienceMember], in delivery: Delivery.ID
    ) async throws(StorageError) -> DeliveryEvidence?

    /// The receipts of a device for a notification.
    /// - Parameter device: The id of the registration.
    func receipts(
        of notification: NotificationID, from device: String, in hub: Hub.ID
    ) async throws(StorageError) -> [DeviceReceipt]
}
