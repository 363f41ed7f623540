import Glibc
import Synchronization

/// Holds a thread until a test lets it go.
final class Gate: Sendable {
    private let isReached = Atomic(false)
    private let isOpen = Atomic(false)

    func wait() {
        isReached.store(true, ordering: .releasing)
        while !isOpen.load(ordering: .acquiring) { usleep(100) }
    }

    func open() {
        isOpen.store(true, ordering: .releasing)
    }

    func untilReached() async {
        while !isReached.load(ordering: .acquiring) { await Task.yield() }
    }
}
