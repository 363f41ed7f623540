/// Identifies the state of the registrations when a page of an audience was read, without using clocks: by the number
/// of registration versions that had ended before, and by the last registration.
public struct AudienceSnapshot: Hashable, Sendable {
    /// The number of the last change that ended a version (`RegistrationVersion.End.change`).
    public var change: Int64
    /// The sequence number of the last registration that was created in any hub.
    public var registration: Int64

    public init(change: Int64, registration: Int64) {
        self.change = change
        self.registration = registration
    }

    /// The snapshot before every change and every registration.
    public static let none = AudienceSnapshot(change: 0, registration: 0)
}
