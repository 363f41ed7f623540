import Glibc
import MartletCore
import MartletCrypto
import MartletModel
import MartletPostgres
import MartletPush
import MartletStorage

/// Moves all data of a server from its data directory to a database on PostgreSQL, or back. No server may be running on
/// either of them; a server that runs moves its own data (`ServingMove`). Calls block the thread, so use this type only
/// in a process that does nothing else.
public enum ServerMove {
    /// A message about the progress of a move.
    public enum Event: Sendable {
        /// This number of rows of the table `name` has been copied, or has been read again for the comparison. The name
        /// `blobs` stands for blobs.
        case progress(name: String, rows: Int64, isComparison: Bool)
        /// The rows of `name` in the copy are the same as in the source.
        case compared(name: String, rows: Int64, checksum: String)
        /// The copy is right. The source is marked as moved from now on, and then the copy is completed.
        case completing

        init(_ event: DataMove.Event) {
            switch event {
            case .progress(let name, let rows, let isComparison):
                self = .progress(name: name, rows: rows, isComparison: isComparison)
            case .compared(let name, let digest):
                self = .compared(name: name, rows: digest.count, checksum: digest.description)
            case .completing: self = .completing
            }
        }
    }

    /// The name of the file with the keys in a data directory.
    private static let keyName = "secret.key"

    static let rules = MoveRules(
        hash: { SHA256.hash($0) },
        key: { platform, handle in
            guard let type = PushPlatforms.all[platform] else { return nil }
            return try? type.key(of: PushHandle(text: handle))
        })

    /// Identifies a directory of this machine, whatever path names it.
    /// - Returns: nil if it cannot be examined.
    public static func identity(of directory: String) -> String? {
        var status = stat()
        return stat(directory, &status) == 0 ? "\(status.st_dev):\(status.st_ino)" : nil
    }

    /// Moves the data of a directory to a database.
    /// - Throws: `ServerError`. If the move failed in its last step, the source may already be marked as moved.
    public static func run(
        fromDirectory path: String, toDatabase url: String, report: @escaping (Event) -> Void
    ) throws(ServerError) {
        do throws(StorageError) {
            guard SQLiteStorage.exists(in: path) else {
                throw StorageError(.unavailable, "There is no database in '\(path)', so there is nothing to move.")
            }
            let address = try DatabaseAddress(url)
            let keys = try ServerKeys.open(in: path)
            let source = try SQLiteMoveSource(path, sealer: keys, rules: rules)
            // The process that held the lock of the directory before may have changed the keys.
            try attempt { () throws(ServerError) in try keys.reload() }
            let target = try PostgresMoveTarget(address, sealer: keys, rules: rules)
            try DataMove(from: source, to: target, rules: rules) { report(Event($0)) }.run()
        } catch {
            throw ServerError(error.detail)
        }
    }

    /// Moves the data of a database to a directory, which is created.
    /// - Parameter key: The content of the nodes' `secret.key` (`key(_:for:)`), which is put into the directory; nil if
    ///   it is there already, or if the environment gives the keys.
    /// - Throws: `ServerError`. No server can run on the directory in this case.
    public static func run(
        fromDatabase url: String, toDirectory path: String, key: [UInt8]?, report: @escaping (Event) -> Void
    ) throws(ServerError) {
        do throws(StorageError) {
            let address = try DatabaseAddress(url)
            let keys = try self.keys(key, in: path)
            let source = try PostgresMoveSource(address, sealer: keys, rules: rules)
            let target = try SQLiteMoveTarget(path, sealer: keys, rules: rules)
            if let key { try attempt { () throws(ServerError) in try put(key, in: path) } }
            try DataMove(from: source, to: target, rules: rules) { report(Event($0)) }.run()
        } catch {
            throw ServerError(error.detail)
        }
    }

    /// Reads the file with the keys.
    /// - Parameters:
    ///   - file: The path of the nodes' `secret.key`; nil if there is none.
    ///   - directory: The directory into which data is moved.
    /// - Returns: The contents of the file; nil if the environment gives the keys, or if they are in the directory
    ///   already.
    /// - Throws: `ServerError` if there are no keys, or if the file cannot be read.
    public static func key(_ file: String?, for directory: String) throws(ServerError) -> [UInt8]? {
        guard let file else {
            let isThere = access("\(directory)/\(keyName)", F_OK) == 0
            guard KeyEnvironment.givesKeys || isThere else {
                throw ServerError(
                    "Give the secret key of the database's nodes: --key-file FILE, or \(KeyEnvironment.names).")
            }
            return nil
        }
        guard let bytes = try SecretFile.read(file, limit: 65_536) else {
            throw ServerError("Cannot read \(file): there is no such file.")
        }
        return bytes
    }

    private static func keys(_ text: [UInt8]?, in directory: String) throws(StorageError) -> ServerKeys {
        guard let text else { return try ServerKeys.open(in: directory) }
        return try attempt { () throws(ServerError) in
            try ServerKeys(in: directory, environment: String(decoding: text, as: UTF8.self))
        }
    }

    private static func put(_ key: [UInt8], in directory: String) throws(ServerError) {
        let path = "\(directory)/\(keyName)"
        if let known = try SecretFile.readOwn(path) {
            guard known == key else {
                throw ServerError("\(path) is another key than that of --key-file: remove the wrong one.")
            }
            return
        }
        try SecretFile.create(key, at: path)
    }

    private static func attempt<Value>(_ work: () throws(ServerError) -> Value) throws(StorageError) -> Value {
        do throws(ServerError) {
            return try work()
        } catch {
            throw StorageError(.unavailable, error.description)
        }
    }
}
