import CMartletLinux

/// What a descriptor is waited for, or ready for.
struct Readiness: OptionSet {
    let rawValue: UInt32

    static let read = Readiness(rawValue: EPOLLIN.rawValue)
    static let write = Readiness(rawValue: EPOLLOUT.rawValue)
    /// The peer is gone or the descriptor is broken; reported without being asked for.
    static let broken = Readiness(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)
}

/// What a loop tells when a descriptor is ready.
protocol ReadinessHandler: AnyObject {
    /// Does a bounded amount of work: what is left is reported again in the next turn.
    func ready(_ readiness: Readiness)
}

/// Names a descriptor's slot in a loop: never used twice, unlike the descriptor itself.
struct Registration: Hashable {
    let number: UInt64
    let descriptor: Int32
}
