import MartletModel

/// The first member of a backup: a JSON document with the backup's format, time and database schema.
struct BackupManifest: Hashable {
    static let name = "backup.json"
    static let sizeLimit: Int64 = 64 << 10
    private static let format: Int64 = 1

    var createdAt: Timestamp
    /// The names of the migrations that have been applied to the database.
    var schema: [String]
    var holdsKeys: Bool

    var bytes: [UInt8] {
        let members: JSON = [
            "martletBackup": .integer(Self.format), "createdAt": .string(createdAt.iso8601),
            "schema": .array(schema.map { .string($0) }), "holdsKeys": .bool(holdsKeys),
        ]
        return members.bytes
    }

    init(createdAt: Timestamp, schema: [String], holdsKeys: Bool) {
        self.createdAt = createdAt
        self.schema = schema
        self.holdsKeys = holdsKeys
    }

    init(parsing bytes: [UInt8]) throws(BackupError) {
        guard let members = try? JSON(parsing: bytes), let format = members["martletBackup"]?.integer else {
            throw .foreign
        }
        guard format <= Self.format else { throw .newer }
        guard let createdAt = members["createdAt"]?.string.flatMap({ Timestamp(iso8601: $0) }),
            let schema = members["schema"]?.array, let holdsKeys = members["holdsKeys"]?.bool
        else { throw .damaged("'\(Self.name)' is not what was written") }
        self.init(createdAt: createdAt, schema: schema.compactMap(\.string), holdsKeys: holdsKeys)
    }
}
