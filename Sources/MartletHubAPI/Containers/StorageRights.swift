/// The rights of a signed URL, written with the letters of Azure's blob service.
public struct StorageRights: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    public static let read = StorageRights(rawValue: 1)
    /// The right to create and replace blobs.
    public static let write = StorageRights(rawValue: 2)
    public static let delete = StorageRights(rawValue: 4)
    public static let list = StorageRights(rawValue: 8)
    public static let all: StorageRights = [.read, .write, .delete, .list]

    private static let letters: [(Character, StorageRights)] = [
        ("r", .read), ("w", .write), ("d", .delete), ("l", .list),
    ]

    /// - Parameter text: Any of the letters `rwdl`; other letters are ignored.
    public init(_ text: String) {
        self = Self.letters.reduce([]) { text.contains($1.0) ? $0.union($1.1) : $0 }
    }

    public var text: String { String(Self.letters.filter { contains($0.1) }.map(\.0)) }
}
