/// Answers what was when: what the explanation of a push is made from.
public protocol TraceStore: Sendable {
    /// What is known of a device, the newest versions first kept where there are too many.
    /// - Parameter device: The id of a registration, or of an installation, which means all its registrations.
    func past(of device: String, in hub: Hub.ID) async throws(StorageError) -> RegistrationPast
}
