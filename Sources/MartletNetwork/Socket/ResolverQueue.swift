/// Which name is resolved next.
///
/// Names that strangers chose may belong to servers that answer slowly on purpose. Of those, one of each site is asked at
/// a time, sites take turns, and one thread in four is left to everybody else.
struct ResolverQueue<Question: Sendable> {
    struct Entry: Sendable {
        let question: Question
        /// nil for a name that the operator chose.
        let site: String?
        let deadline: ContinuousClock.Instant
    }

    /// Threads that strangers' names may occupy.
    private static var strangersThreads: Int { 3 }
    private static var strangersWaiting: Int { 1000 }

    private var waiting: [Entry] = []
    private var busySites: Set<String> = []

    /// What has one owner, as far as a name can tell: its last two labels.
    static func site(of name: String) -> String {
        name.split(separator: ".").suffix(2).joined(separator: ".").lowercased()
    }

    /// - Returns: Whether there was room for it.
    mutating func add(_ question: Question, site: String?, before deadline: ContinuousClock.Instant) -> Bool {
        guard site == nil || waiting.count < Self.strangersWaiting else { return false }
        waiting.append(Entry(question: question, site: site, deadline: deadline))
        return true
    }

    /// The next to ask; nil where there is none, or none that may be asked now.
    mutating func next() -> Entry? {
        let index = waiting.firstIndex { entry in
            guard let site = entry.site else { return true }
            return busySites.count < Self.strangersThreads && !busySites.contains(site)
        }
        guard let index else { return nil }
        let entry = waiting.remove(at: index)
        if let site = entry.site { busySites.insert(site) }
        return entry
    }

    /// One that was asked is answered: what else waits of its site goes after all others.
    mutating func finish(_ entry: Entry) {
        guard let site = entry.site else { return }
        busySites.remove(site)
        waiting = waiting.filter { $0.site != site } + waiting.filter { $0.site == site }
    }

    /// Takes out those that nobody waits for any more.
    mutating func removeLate(at now: ContinuousClock.Instant) -> [Question] {
        let late = waiting.filter { $0.deadline <= now }
        if !late.isEmpty { waiting.removeAll { $0.deadline <= now } }
        return late.map(\.question)
    }

    mutating func removeAll() -> [Question] {
        defer { waiting = [] }
        return waiting.map(\.question)
    }
}
