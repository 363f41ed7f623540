import Synchronization

/// Counts the memory of the pages in progress, over all deliveries. When memory is short, pages become smaller.
/// Thread-safe.
final class PageBytes: Sendable {
    /// The memory in bytes that a page may always use, so that every delivery makes progress.
    static let least = 256 << 10

    /// The memory in bytes that is reserved for each member before the member is read.
    private static let memberBytes = 1024

    private let limit: Int
    private let taken = Atomic<Int>(0)

    /// - Parameter limit: The maximum memory in bytes. Pages of `least` bytes may exceed it.
    init(limit: Int = 64 << 20) {
        self.limit = limit
    }

    /// The memory that is reserved for pages, in bytes.
    var inHand: Int { taken.load(ordering: .relaxed) }

    /// Whether another page of full size fits.
    var hasRoom: Bool { inHand + AudiencePage.byteLimit <= limit }

    /// Reserves memory for a page that is about to be read.
    /// - Parameters:
    ///   - members: The maximum number of members in the page.
    ///   - bodyBytes: The size of each member's own request body, in bytes; 0 if the members share one body.
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

/// The memory that is reserved for one page. It is released when the last reference to the lease goes away.
final class PageLease: Sendable {
    /// The memory in bytes that the page may use.
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

    /// Replaces the reserved size with the actual size of the page. Called when the page has been read.
    func settle(at bytes: Int) {
        owner.add(bytes - taken.exchange(bytes, ordering: .relaxed))
    }
}
