import MartletCore
import MartletModel

/// The work that results from one page of the source's listing: the ledger entries and the registrations to write.
struct MigrationPage {
    /// A registration to write, with the data for its ledger entry.
    struct Write {
        let key: MigrationLedger.Key
        let source: UInt64
        let platform: String
        let change: RegistrationChange
    }

    let pass: Int64
    var counts = MigrationCounts()
    var writes: [Write] = []
    /// The ledger entries to record before anything is written.
    var intents: [(MigrationLedger.Key, MigrationLedger.Entry)] = []
    /// The ids of the installations that have registrations on the page. The ids are kept so that each installation is
    /// counted only once.
    var seen: Set<String> = []
    private var wanted: [String: (platform: String, rows: [JSON])] = [:]

    init(pass: Int64) {
        self.pass = pass
    }

    /// Adds an installation to the answer, so that the client reads the installation from the source. This is called
    /// for a registration on the page that is a part of the installation.
    mutating func want(_ id: String, _ platform: String, row: MigrationLedger.Key, _ source: UInt64) {
        wanted[id, default: (platform, [])].rows.append(.array([.string("\(row.digest)"), .string("\(source)")]))
    }

    var answer: JSON {
        var answer = counts.json
        answer["installations"] = .array(
            wanted.sorted { $0.key < $1.key }.map {
                ["id": .string($0.key), "platform": .string($0.value.platform), "rows": .array($0.value.rows)]
            })
        return .object(answer)
    }
}

/// Counts the registrations and installations of one request by platform and outcome, and counts the refusals by
/// reason.
struct MigrationCounts {
    enum Outcome: String {
        case copied, unchanged, kept, refused
    }

    private var platforms: [String: [String: Int64]] = [:]
    private var reasons: [String: Int64] = [:]

    mutating func add(_ platform: String, _ outcome: Outcome) {
        platforms[platform, default: [:]][outcome.rawValue, default: 0] += 1
    }

    mutating func refuse(_ platform: String, _ sentence: String) {
        add(platform, .refused)
        note(sentence)
    }

    mutating func note(_ sentence: String) { reasons[sentence, default: 0] += 1 }

    var json: [String: JSON] {
        [
            "counts": .object(platforms.mapValues { .object($0.mapValues { .integer($0) }) }),
            "reasons": .object(reasons.mapValues { .integer($0) }),
        ]
    }
}
