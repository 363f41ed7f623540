public import MartletCore

/// A file in a backup of a data directory.
public enum SnapshotMember: Hashable, Sendable {
    case database
    case progressMap(Delivery.ID)
    /// The file of slots with the progress maps of small deliveries.
    case progressSlots
    /// The content of a payload, by its name in `PayloadBodies`.
    case payloadBody(String)

    /// The name in a backup, such as `martlet.db`, `progress/7`, `progress/slots` or `payloads/0123…`.
    public var name: String {
        switch self {
        case .database: SQLiteStorage.Settings.databaseName
        case .progressMap(let delivery): "progress/\(delivery.rawValue)"
        case .progressSlots: "progress/\(ProgressSlots.fileName)"
        case .payloadBody(let name): "payloads/\(name)"
        }
    }

    /// Creates the member that has a given name in a backup.
    /// - Returns: nil if the text is not exactly the `name` of a member.
    public init?(_ name: String) {
        guard name != SQLiteStorage.Settings.databaseName else {
            self = .database
            return
        }
        let words = name.split(separator: "/", omittingEmptySubsequences: false)
        guard words.count == 2 else { return nil }
        let word = String(words[1])
        switch words[0] {
        case "progress" where word == ProgressSlots.fileName: self = .progressSlots
        case "progress":
            guard let number = Int64(word), number > 0 else { return nil }
            self = .progressMap(Delivery.ID(rawValue: number))
        case "payloads":
            guard Self.isBodyName(word) else { return nil }
            self = .payloadBody(word)
        default: return nil
        }
        guard self.name == name else { return nil }
    }

    /// Returns true if a word has the format of `PayloadBodies.newName`.
    private static func isBodyName(_ word: String) -> Bool {
        word.utf8.count == 32
            && word.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
                default: false
                }
            }
    }
}
