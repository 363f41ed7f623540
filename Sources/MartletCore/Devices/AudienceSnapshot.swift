/// Identifies the state of the registrations when a page of an audience was read. No clock is used. The state is
/// identified by the last change that had ended a registration version, and by the last registration that had been
/// created.
public struct AudienceSnapshot: Hashable, Sendable {
    /// The number of the last change that ended a version (`RegistrationVersion.End.change`).
    public var change: Int64
    /// The sequence number of the last registration that was created in any hub.
    public var registration: Int64

    public init(change: Int64, registration: Int64) {
        self.change = change
        self.registration = registration
    }

    /// The snapshot that comes before every change and every registration.
    public static let none = AudienceSnapshot(change: 0, registration: 0)
}
