/// Reads the stored records and former states from which the trace of a push is derived.
public protocol TraceStore: Sendable {
    /// Returns the history of a device. If it has more than `RegistrationPast.limit` versions, only the newest are
    /// returned.
    /// - Parameter device: The id of a registration, or the id of an installation, which represents all its
    ///   registrations.
    func past(of device: String, in hub: Hub.ID) async throws(StorageError) -> RegistrationPast

    /// Returns a notification with its deliveries; nil if the hub has no notification with this id.
    func traced(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> TracedNotification?

    /// Returns the records of some members of a delivery, all from the same point in time; nil if the delivery was
    /// deleted.
    func evidence(
        of members: [AudienceMember], in delivery: Delivery.ID
    ) async throws(StorageError) -> DeliveryEvidence?

    /// Returns the receipts of a device for a notification.
    /// - Parameter device: The id of the registration.
    func receipts(
        of notification: NotificationID, from device: String, in hub: Hub.ID
    ) async throws(StorageError) -> [DeviceReceipt]
}
