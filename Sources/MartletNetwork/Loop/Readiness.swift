import CMartletLinux

/// The events on a descriptor that a loop waits for, or that the loop reports.
struct Readiness: OptionSet {
    let rawValue: UInt32

    static let read = Readiness(rawValue: EPOLLIN.rawValue)
    static let write = Readiness(rawValue: EPOLLOUT.rawValue)
    /// The peer closed the connection or the descriptor is broken. The loop reports this event even if it was not asked
    /// for.
    static let broken = Readiness(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)
}

/// An object that a loop notifies when a descriptor is ready.
protocol ReadinessHandler: AnyObject {
    /// Handles the readiness of the descriptor. Must do a bounded amount of work; remaining readiness is reported again
    /// in the next iteration.
    func ready(_ readiness: Readiness)
}

/// Identifies the registration of a descriptor in a loop. Unlike a descriptor, a registration's number is never reused.
struct Registration: Hashable {
    let number: UInt64
    let descriptor: Int32
}
