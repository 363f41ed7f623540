/// Decides which name is resolved next.
///
/// Names chosen by untrusted parties may belong to DNS servers that answer slowly on purpose. Therefore only one
/// untrusted name per site is resolved at a time, and sites take turns. One of the four resolver threads is reserved
/// for trusted names.
struct ResolverQueue<Question: Sendable> {
    struct Entry: Sendable {
        let question: Question
        /// The site of an untrusted name; nil for a name that the operator chose.
        let site: String?
        let deadline: ContinuousClock.Instant
    }

    /// The maximum number of threads that resolve untrusted names.
    private static var untrustedThreadLimit: Int { 3 }
    private static var untrustedWaitingLimit: Int { 1000 }

    private var waiting: [Entry] = []
    private var busySites: Set<String> = []

    /// Returns the last two labels of a name, which are assumed to identify its owner.
    static func site(of name: String) -> String {
        name.split(separator: ".").suffix(2).joined(separator: ".").lowercased()
    }

    /// Adds a question to the queue.
    /// - Returns: False if the name is untrusted and too many questions are waiting already.
    mutating func add(_ question: Question, site: String?, before deadline: ContinuousClock.Instant) -> Bool {
        guard site == nil || waiting.count < Self.untrustedWaitingLimit else { return false }
        waiting.append(Entry(question: question, site: site, deadline: deadline))
        return true
    }

    /// Returns the next name to resolve; nil if no name is waiting or none of the waiting names may be resolved now.
    mutating func next() -> Entry? {
        let index = waiting.firstIndex { entry in
            guard let site = entry.site else { return true }
            return busySites.count < Self.untrustedThreadLimit && !busySites.contains(site)
        }
        guard let index else { return nil }
        let entry = waiting.remove(at: index)
        if let site = entry.site { busySites.insert(site) }
        return entry
    }

    /// Records that a name was resolved. The waiting names of the same site move to the end of the queue.
    mutating func finish(_ entry: Entry) {
        guard let site = entry.site else { return }
        busySites.remove(site)
        waiting = waiting.filter { $0.site != site } + waiting.filter { $0.site == site }
    }

    /// Removes and returns the questions whose deadlines have passed.
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
