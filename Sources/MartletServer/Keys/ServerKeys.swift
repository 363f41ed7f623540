import Glibc
import MartletCore
import MartletCrypto
import MartletHubAPI
import MartletStorage
import Synchronization

/// The keys that a server uses.
///
/// The keys are stored in the file `secret.key` of the data directory. To keep them away from the data, an operator can
/// instead give them in the environment variable `MARTLET_SECRET_KEY`, or in the file that `MARTLET_SECRET_KEY_FILE`
/// names.
final class ServerKeys: Sendable {
    private static let variables = KeyEnvironment.names

    private struct State {
        var ring: ServerKeyRing
        /// The ciphers that open sealed secrets, by the id of the key.
        ///
        /// The ciphers of retired keys are kept until the process ends. Otherwise a task that has already read a secret
        /// sealed with a retired key could not open the secret.
        var ciphers: [[UInt8]: AESGCM]
    }

    /// The path of the file with the keys; nil if the environment gives the keys.
    private let path: String?
    private let state: Mutex<State>
    /// Allows only one change of the keys at a time.
    private let change = Mutex(())

    /// Reads the keys from the environment or the data directory. If the data directory is new, makes a key in it.
    static func open(in directory: String) throws(StorageError) -> ServerKeys {
        do throws(ServerError) {
            return try ServerKeys(in: directory, environment: try KeyEnvironment.keys)
        } catch {
            throw StorageError(.unavailable, error.description)
        }
    }

    /// Reads the keys from the environment or the data directory, and writes nothing.
    /// - Returns: nil if there are none and the data directory is new, so that `open(in:)` would make a key in it.
    static func existing(in directory: String) throws(StorageError) -> ServerKeys? {
        do throws(ServerError) {
            if let text = try KeyEnvironment.keys { return try ServerKeys(in: directory, environment: text) }
            let path = Self.path(in: directory)
            let isNew = Self.isNew(directory)
            guard try SecretFile.readOwn(path) != nil else {
                guard isNew else { throw missing(path) }
                return nil
            }
            return try ServerKeys(path: path, try Self.read(path))
        } catch {
            throw StorageError(.unavailable, error.description)
        }
    }

    private init(path: String?, _ ring: ServerKeyRing) throws(ServerError) {
        self.path = path
        state = Mutex(State(ring: ring, ciphers: try Self.ciphers(of: ring)))
    }

    private static func path(in directory: String) -> String { "\(directory)/secret.key" }

    /// Whether nothing can have been sealed with a key of the data directory yet.
    private static func isNew(_ directory: String) -> Bool {
        !SQLiteStorage.exists(in: directory) && !NodeDirectory.exists(in: directory)
    }

    /// Reads the keys, or makes one if the data directory is new.
    /// - Parameter environment: The keys that the environment gives; nil if they are in the data directory.
    convenience init(in directory: String, environment: String?) throws(ServerError) {
        if let environment {
            guard let ring = ServerKeyRing(environment) else {
                throw ServerError(
                    "\(Self.variables) must give 64 hexadecimal digits, or several keys of that form with commas "
                        + "between them, newest first.")
            }
            try self.init(path: nil, ring)
        } else {
            try Self.prepare(directory)
            let path = Self.path(in: directory)
            // The database is looked for before the key file is read, because another process may be creating both. In
            // the opposite order, the key file could seem to be missing beside an existing database.
            let isNew = Self.isNew(directory)
            if try SecretFile.readOwn(path) == nil {
                guard isNew else { throw Self.missing(path) }
                try SecretFile.create(Array(try Self.generate().text.utf8) + [0x0A], at: path)
            }
            try self.init(path: path, try Self.read(path))
        }
    }

    /// Creates the data directory or checks its owner and mode, before a key is written to it or read from it.
    ///
    /// Without this check, a new key could be left behind in a directory that is refused later. And in a directory that
    /// other users can write to, the server could use a key that another user has put there.
    private static func prepare(_ directory: String) throws(ServerError) {
        do throws(StorageError) {
            try SQLiteStorage.prepareDirectory(directory)
        } catch {
            throw ServerError(error.detail)
        }
    }

    private static func missing(_ path: String) -> ServerError {
        ServerError(
            "\(path) is missing, with which secrets of the database were sealed: put it back, or give its key in "
                + "\(variables).")
    }

    /// Reads the file with the keys again. It is called after this process has locked the data directory, because the
    /// process that held the lock before may have changed the file.
    func reload() throws(ServerError) {
        guard let path else { return }
        try use(try Self.read(path))
    }

    /// The ids of the keys, newest first.
    var ids: [[UInt8]] { state.withLock { $0.ring.keys.map(\.id) } }

    // MARK: Values derived from the oldest key

    /// Derives the key from which the message ids of pushes are generated.
    func messageIDKey() throws(ServerError) -> MessageIDKey {
        do throws(CryptoError) {
            let bytes = try oldest.derive("message-id", count: 16)
            let words = [bytes[..<8], bytes[8...]].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
            return MessageIDKey(words[0], words[1])
        } catch {
            throw ServerError("The message id key cannot be derived: \(error)")
        }
    }

    /// Makes the signer for the URLs of containers and blobs.
    func urlSigner() throws(ServerError) -> URLSigner {
        do throws(CryptoError) {
            return try URLSigner(key: try oldest.derive("signed-url", count: 32))
        } catch {
            throw ServerError("The key of signed URLs cannot be derived: \(error)")
        }
    }

    /// Derives the key for digests of handles and credentials. The console does not show these values, but their
    /// digests can be compared.
    func digestKey() throws(ServerError) -> HMACSHA256 {
        do throws(CryptoError) {
            return try HMACSHA256(key: try oldest.derive("console-digest", count: 32))
        } catch {
            throw ServerError("The key of the console's digests cannot be derived: \(error)")
        }
    }

    private var oldest: ServerKey { state.withLock { $0.ring.oldest } }

    // MARK: Rotation

    /// Adds a new key.
    ///
    /// The key is on disk before anything is sealed with it.
    func rotate() throws(ServerError) {
        guard let path else {
            throw ServerError(
                "The key is in \(Self.variables): put a new one before it, with a comma between them, and start "
                    + "the server again; it then seals with that.")
        }
        try change.withLock { _ throws(ServerError) in
            var ring = state.withLock { $0.ring }
            // This fails if the ring is full. It also fails if a key with the same id exists, but that has a
            // probability of 2⁻³².
            guard ring.add(try Self.generate()) else {
                throw ServerError(
                    "There are \(ring.keys.count) keys; 'martlet server-key retire' removes those that nothing uses any more."
                )
            }
            try SecretFile.write(Array(ring.text.utf8), to: path)
            try use(ring)
        }
    }

    /// Removes the keys that are older than the given key.
    ///
    /// The caller must make sure that no secret is sealed with the removed keys.
    func retire(olderThan id: [UInt8]) throws(ServerError) {
        guard let path else {
            throw ServerError(
                "Nothing uses the older keys any more: leave the first one alone in \(Self.variables) and start "
                    + "the server again.")
        }
        try change.withLock { _ throws(ServerError) in
            var ring = state.withLock { $0.ring }
            ring.retire(olderThan: id)
            try SecretFile.write(Array(ring.text.utf8), to: path)
            try use(ring)
        }
    }

    private func use(_ ring: ServerKeyRing) throws(ServerError) {
        let ciphers = try Self.ciphers(of: ring)
        state.withLock { state in
            state.ring = ring
            state.ciphers.merge(ciphers) { old, _ in old }
        }
    }

    private static func ciphers(of ring: ServerKeyRing) throws(ServerError) -> [[UInt8]: AESGCM] {
        do throws(CryptoError) {
            var ciphers: [[UInt8]: AESGCM] = [:]
            for key in ring.keys {
                let secret = SecretBytes(try key.derive("seal", count: AESGCM.keyByteCount))
                ciphers[key.id] = try AESGCM(key: secret)
            }
            return ciphers
        } catch {
            throw ServerError("The sealing key cannot be used: \(error)")
        }
    }

    private static func generate() throws(ServerError) -> ServerKey {
        do throws(CryptoError) {
            return try ServerKey.generate()
        } catch {
            throw ServerError("A key cannot be made: \(error)")
        }
    }

    private static func read(_ path: String) throws(ServerError) -> ServerKeyRing {
        let text = try SecretFile.readOwn(path).flatMap { String(validating: $0, as: UTF8.self) }
        guard let ring = text.flatMap(ServerKeyRing.init) else {
            throw ServerError("\(path) is damaged: it has a line of 64 hexadecimal digits for each key.")
        }
        return ring
    }
}

/// Seals secrets with AES-256-GCM.
///
/// The sealed bytes begin with the key's id, which is authenticated together with the context.
extension ServerKeys: Sealer {
    var mark: [UInt8] { state.withLock { $0.ring.newest.id } }

    func seal(_ secret: [UInt8], context: String) throws(StorageError) -> [UInt8] {
        let (id, cipher) = state.withLock { state in
            let id = state.ring.newest.id
            return (id, state.ciphers[id])
        }
        guard let cipher else { throw StorageError(.unavailable, "The sealing key is not there.") }
        do throws(CryptoError) {
            return id + (try cipher.seal(secret, associatedData: id + Array(context.utf8)))
        } catch {
            throw StorageError(.unavailable, "A secret could not be sealed: \(error)")
        }
    }

    func open(_ sealed: [UInt8], context: String) -> [UInt8]? {
        let id = Array(sealed.prefix(ServerKey.idByteCount))
        guard let cipher = state.withLock({ $0.ciphers[id] }) else { return nil }
        return try? cipher.open(Array(sealed.dropFirst(id.count)), associatedData: id + Array(context.utf8))
    }
}
