import MartletModel

/// The results of a migration so far, by platform.
struct MigrationReport: Hashable {
    private(set) var counts: [String: [String: Int64]] = [:]
    private(set) var reasons: [String: Int64] = [:]

    /// The maximum number of installations that `reasons` names because they are too large.
    static let namedLimit = 100

    init() {}

    /// - Parameter json: A value that the property `json` returned; nil creates an empty report.
    init(_ json: JSON?) {
        if let json { add(json) }
    }

    /// Adds the results of one request, from the JSON document in the server's answer.
    mutating func add(_ answer: JSON) {
        for (platform, outcomes) in answer["counts"]?.object ?? [:] {
            for (outcome, count) in outcomes.object ?? [:] {
                counts[platform, default: [:]][outcome, default: 0] += count.integer ?? 0
            }
        }
        for (reason, count) in answer["reasons"]?.object ?? [:] { reasons[reason, default: 0] += count.integer ?? 0 }
    }

    /// Counts an installation of the source that is too large to be read.
    ///
    /// The reason of the refusal names the installation, because its document was not read. At most `namedLimit`
    /// installations are named, so that the report stays small.
    mutating func refuse(tooLarge id: String, of platform: String) {
        counts[platform, default: [:]]["refused", default: 0] += 1
        let end = "is larger at the source than \(Installation.sizeLimit) bytes."
        let named = reasons.keys.count { $0.hasPrefix("Installation '") && $0.hasSuffix(end) }
        let isNamed = named < Self.namedLimit
        reasons[isNamed ? "Installation '\(id)' \(end)" : "Another installation \(end)", default: 0] += 1
    }

    func total(_ outcome: String) -> Int64 { counts.values.reduce(0) { $0 + ($1[outcome] ?? 0) } }

    var json: JSON {
        [
            "counts": .object(counts.mapValues { .object($0.mapValues { .integer($0) }) }),
            "reasons": .object(reasons.mapValues { .integer($0) }),
        ]
    }

    /// Returns a line for each platform, and then a line for each reason of a refusal.
    /// - Parameter outcomes: The names of the outcomes, in the order in which they are shown.
    func lines(_ outcomes: [String]) -> [String] {
        let platforms = counts.sorted { $0.key < $1.key }.map { platform, numbers in
            "\(platform): " + outcomes.map { "\((numbers[$0] ?? 0).grouped) \($0)" }.joined(separator: ", ")
        }
        return platforms + reasons.sorted { $0.key < $1.key }.map { "\($0.value.grouped) times: \($0.key)" }
    }
}
