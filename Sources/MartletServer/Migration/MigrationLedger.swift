import MartletCore
import MartletCrypto
import MartletModel

/// The record of everything that a migration has written to a hub.
///
/// With this record, the migration distinguishes its own copies from data that an app has written to the hub. The app's
/// data is never changed. The record contains digests of ids, not the ids themselves.
struct MigrationLedger: Sendable {
    /// Identifies an item: a registration or an installation of the source.
    struct Key: Hashable, Sendable {
        let digest: UInt64

        static func registration(_ id: String) -> Key { Key(digest: MigrationLedger.digest("r", id)) }
        static func installation(_ id: String) -> Key { Key(digest: MigrationLedger.digest("i", id)) }
    }

    struct Entry: Hashable, Sendable {
        /// The digest of the item as it was in the source when it was copied.
        var source: UInt64
        /// The version that the copy has, or will have, in this hub; less than 1 if the item was never copied.
        var version: Int64
        /// The time when the copy was created in this hub, in milliseconds since 1970.
        ///
        /// It is 0 while the write is planned but not known to be done.
        var createdAt: Int64
        /// The number of the last pass of the migration in which the source listed the item.
        var pass: Int64

        /// Returns an entry for an item that was not copied, because an app has written it in this hub, or because it
        /// is a registration that is only a part of an installation.
        static func notCopied(source: UInt64, _ pass: Int64) -> Entry {
            Entry(source: source, version: -1, createdAt: 1, pass: pass)
        }
    }

    /// The version and the creation time of a registration or an installation in this hub.
    struct Stored: Hashable, Sendable {
        var version: Int64
        var createdAt: Timestamp
    }

    enum Decision: Hashable, Sendable {
        case write(WriteCondition)
        case unchanged
        /// The item is not written, because an app has written or removed it in this hub.
        case kept
    }

    private(set) var entries: [Key: Entry] = [:]
    private(set) var pass: Int64 = 1
    private(set) var checkpoint = "null"

    static func digest(_ parts: String...) -> UInt64 {
        var input = DigestInput()
        for part in parts { input.append(part) }
        return SHA256.hash(input.bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Returns whether the item that this hub has stored is a copy that has not been changed since the migration wrote
    /// it.
    func isCopy(_ key: Key, _ stored: Stored) -> Bool {
        guard let entry = entries[key], entry.version == stored.version else { return false }
        return entry.createdAt == 0 || entry.createdAt == stored.createdAt.milliseconds
    }

    func decision(_ key: Key, source: UInt64, stored: Stored?) -> Decision {
        guard let entry = entries[key] else { return stored == nil ? .write(.absent) : .kept }
        guard let stored else {
            // The item is not in this hub. If its entry was never completed, an earlier write may not have happened, so
            // the item is written. It is also written if it has changed in the source. Otherwise an app has removed the
            // item from this hub.
            return entry.createdAt == 0 && entry.version > 0 || entry.source != source ? .write(.absent) : .kept
        }
        guard isCopy(key, stored) else { return .kept }
        return entry.source == source ? .unchanged : .write(.version(stored.version))
    }

    mutating func set(_ key: Key, _ entry: Entry) { entries[key] = entry }

    mutating func setCheckpoint(_ text: String) { checkpoint = text }

    mutating func endPass() {
        pass += 1
        checkpoint = "null"
    }
}

// Reads and writes the ledger's file. The file has one line for each change. Of several lines with the same key, the
// last one is valid.
extension MigrationLedger {
    static func line(_ key: Key, _ entry: Entry) -> String {
        "E \(key.digest) \(entry.source) \(entry.version) \(entry.createdAt) \(entry.pass)\n"
    }

    static func line(checkpoint: String) -> String { "C \(checkpoint)\n" }

    /// The complete text of the ledger's file, for rewriting the file: the pass, the checkpoint, and one line for each
    /// entry.
    var text: String {
        "P \(pass)\n" + Self.line(checkpoint: checkpoint) + entries.map { Self.line($0.key, $0.value) }.joined()
    }

    /// Reads a ledger.
    /// - Parameter text: The text of the file. Text after the last line break is ignored, because it is a line that was
    ///   cut short when the process was killed.
    init(parsing text: [UInt8]) {
        guard let end = text.lastIndex(of: UInt8(ascii: "\n")) else { return }
        for line in text[..<end].split(separator: UInt8(ascii: "\n")) {
            let line = String(decoding: line, as: UTF8.self)
            let words = line.split(separator: " ")
            switch words.first {
            case "P": pass = words.count == 2 ? Int64(words[1]) ?? pass : pass
            case "C": checkpoint = String(line.dropFirst(2))
            case "E":
                guard words.count == 6, let key = UInt64(words[1]), let source = UInt64(words[2]),
                    let version = Int64(words[3]), let createdAt = Int64(words[4]), let pass = Int64(words[5])
                else { continue }
                entries[Key(digest: key)] = Entry(
                    source: source, version: version, createdAt: createdAt, pass: pass)
            default: break
            }
        }
    }
}
