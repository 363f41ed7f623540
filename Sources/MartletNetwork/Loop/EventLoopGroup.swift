import Glibc
import Synchronization

/// The event loops of a process.
public final class EventLoopGroup: Sendable {
    public let loops: [EventLoop]
    private let turn = Atomic<Int>(0)

    /// Starts the loops.
    /// - Parameter count: The number of threads. The default is one per core but at most two, because the other parts
    ///   of a server cannot keep more than two loops busy.
    public init(count: Int? = nil) throws(NetworkError) {
        let count = count ?? min(2, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        var loops: [EventLoop] = []
        for number in 0..<max(1, count) {
            loops.append(try EventLoop(name: "martlet-loop-\(number)"))
        }
        self.loops = loops
    }

    /// Returns the next loop in round-robin order.
    public func next() -> EventLoop {
        let number = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return loops[Int(UInt(bitPattern: number) % UInt(loops.count))]
    }
}
