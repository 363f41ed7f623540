import CMartletLinux

/// The events that a loop waits for on a descriptor, or reports.
struct Readiness: OptionSet {
    let rawValue: UInt32

    static let read = Readiness(rawValue: EPOLLIN.rawValue)
    static let write = Readiness(rawValue: EPOLLOUT.rawValue)
    /// The peer closed the connection or the descriptor is broken. Always reported.
    static let broken = Readiness(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)
}

/// Called by a loop when a descriptor is ready.
protocol ReadinessHandler: AnyObject {
    /// Must do a bounded amount of work: remaining readiness is reported again in the next turn.
    func ready(_ readiness: Readiness)
}

/// Identifies the registration of a descriptor in a loop. Unlike the descriptor, its number is never reused.
struct Registration: Hashable {
    let number: UInt64
    let descriptor: Int32
}
