import Synchronization

/// How much memory the pages in progress take, all deliveries together. Where there is no room left, pages are shorter.
/// Thread-safe.
final class PageBytes: Sendable {
    /// What a page may take even where there is no room: so every delivery gets on.
    static let least = 256 << 10

    /// What a member is expected to take before it is read.
    private static let memberBytes = 1024

    private let limit: Int
    private let taken = Atomic<Int>(0)

    /// - Parameter limit: In bytes; pages of `least` bytes may come on top.
    init(limit: Int = 64 << 20) {
        self.limit = limit
    }

    /// In bytes.
    var inHand: Int { taken.load(ordering: .relaxed) }

    /// Whether there is room for another page.
    var hasRoom: Bool { inHand + AudiencePage.byteLimit <= limit }

    /// Reserves memory for a page that is about to be read.
    /// - Parameters:
    ///   - members: How many it may have.
    ///   - bodyBytes: What each of them takes besides, for a body of its own.
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

/// The memory of one page. It is given back with the last reference.
final class PageLease: Sendable {
    /// What the page may take.
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

    /// The page is read, and takes so much.
    func settle(at bytes: Int) {
        owner.add(bytes - taken.exchange(bytes, ordering: .relaxed))
    }
}
