import MartletPush

/// The connections of real devices, each with what is to be done on it, in order.
struct DeviceSockets {
    /// What may wait for a device that does not read; one that lets more wait loses its connection.
    private static let waitingLimit = 2000
    private static let goingAway: UInt16 = 1001

    private var waiting: [UInt64: AsyncStream<SocketStep.Action>.Continuation] = [:]
    private var last: UInt64 = 0

    /// - Returns: The number of a new connection, and what is to be done on it until it is closed.
    mutating func open() -> (socket: UInt64, actions: AsyncStream<SocketStep.Action>) {
        last += 1
        let (actions, continuation) = AsyncStream.makeStream(
            of: SocketStep.Action.self, bufferingPolicy: .bufferingOldest(Self.waitingLimit))
        waiting[last] = continuation
        return (last, actions)
    }

    mutating func close(_ socket: UInt64) {
        waiting.removeValue(forKey: socket)?.finish()
    }

    /// Called where the steps are decided, so that devices receive in that order.
    mutating func perform(_ steps: [SocketStep]) {
        for step in steps {
            if case .dropped = waiting[step.socket]?.yield(step.action) { close(step.socket) }
        }
    }

    mutating func closeAll() {
        for continuation in waiting.values {
            continuation.yield(.close(code: Self.goingAway))
            continuation.finish()
        }
        waiting = [:]
    }
}
