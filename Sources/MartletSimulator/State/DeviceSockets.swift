import MartletPush

/// The connections of real devices, each with a queue of actions to perform on it.
struct DeviceSockets {
    /// The maximum number of actions that wait for a device that does not read. If more actions would have to wait, the
    /// device's connection is closed.
    private static let waitingLimit = 2000
    private static let goingAway: UInt16 = 1001

    private var waiting: [UInt64: AsyncStream<SocketStep.Action>.Continuation] = [:]
    private var last: UInt64 = 0

    /// Adds a connection.
    /// - Returns: The number of the connection, and the actions to perform on it until it is closed.
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

    /// Queues each step's action for the connection that the step names.
    ///
    /// The caller holds the same lock under which the service has decided the steps, so that devices get the actions in
    /// the order of the decisions.
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
