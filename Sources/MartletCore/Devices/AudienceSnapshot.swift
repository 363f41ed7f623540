/// When a page of an audience was read, told without a clock: by how many states of registrations were over
/// by then, and which registration was the last.
public struct AudienceSnapshot: Hashable, Sendable {
    /// The number of the last change of a registration (`RegistrationVersion.End.change`).
    public var change: Int64
    /// The sequence number of the registration that was created last, in whichever hub.
    public var registration: Int64

    public init(change: Int64, registration: Int64) {
        self.change = change
        self.registration = registration
    }

    /// Before everything.
    public static let none = AudienceSnapshot(change: 0, registration: 0)
}
