import Foundation
import MartletCore

@testable import MartletStorage

extension Migration {
    /// Makes the database of an earlier version, with the first steps of the schema. Its storage cannot be opened: that
    /// takes the present schema.
    static func makeDatabase(
        _ migrations: [Migration], in directory: String,
        _ fill: (Connection) throws(StorageError) -> Void = { _ throws(StorageError) in }
    ) throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let path = "\(directory)/\(SQLiteStorage.Settings.databaseName)"
        _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        let connection = try SQLiteStorage.Settings().openWriter(path)
        try Migrator(migrations: migrations).migrate(connection)
        try fill(connection)
    }
}
