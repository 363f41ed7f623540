import Synchronization

/// The memory of the pages in progress, of all deliveries together. When it runs short, pages get smaller. Thread-safe.
final class PageBytes: Sendable {
    /// The memory in bytes that a page may always take, so that every delivery makes progress.
    static let least = 256 << 10

    /// The memory in bytes that a member is expected to take before it is read.
    private static let memberBytes = 1024

    private let limit: Int
    private let taken = Atomic<Int>(0)

    /// - Parameter limit: In bytes; pages of `least` bytes may exceed it.
    init(limit: Int = 64 << 20) {
        self.limit = limit
    }

    /// The memory that is reserved, in bytes.
    var inHand: Int { taken.load(ordering: .relaxed) }

    /// Whether another page of full size fits.
    var hasRoom: Bool { inHand + AudiencePage.byteLimit <= limit }

    /// Reserves memory for a page that is about to be read.
    /// - Parameters:
    ///   - members: The most members that the page may have.
    ///   - bodyBytes: The size of each member's own request body, if it has one.
    func reserve(members: Int, bodyBytes: Int = 0) -> PageLease {
        let wanted = min(max(members * (Self.memberBytes + bodyBytes), Self.least), AudiencePage.byteLimit)
        let room = limit - taken.add(wanted, ordering: .relaxed).oldValue
        let granted = min(wanted, max(room, Self.least))
        if granted < wanted { taken.subtract(wanted - granted, ordering: .relaxed) }
        return PageLease(granted, of: self)
    }

    fileprivate func add(_ bytes: Int) {
        taken.add(bytes, ordering: .relaxed)
    }
}

/// The memory reserved for one page. It is given back when the last reference is dropped.
final class PageLease: Sendable {
    /// The memory in bytes that the page may take.
    let granted: Int
    private let taken: Atomic<Int>
    private let owner: PageBytes

    fileprivate init(_ granted: Int, of owner: PageBytes) {
        self.granted = granted
        self.owner = owner
        taken = Atomic(granted)
    }

    deinit {
        owner.add(-taken.load(ordering: .relaxed))
    }

    /// Replaces the reservation by the actual size of the page, once it is read.
    func settle(at bytes: Int) {
        owner.add(bytes - taken.exchange(bytes, ordering: .relaxed))
    }
}
