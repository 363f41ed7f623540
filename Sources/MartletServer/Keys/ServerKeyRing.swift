import MartletCrypto

/// The keys of a server, newest first.
///
/// The newest key seals secrets. Each key opens the secrets that it has sealed. Values that must stay the same when a
/// key is added are derived from the oldest key.
struct ServerKeyRing: Sendable {
    /// The maximum number of keys in a ring. Before a key can be added to a full ring, older keys must be retired.
    static let countLimit = 8

    /// The keys, newest first.
    ///
    /// There is at least one key, and no two keys have the same id.
    private(set) var keys: [ServerKey]

    init(_ key: ServerKey) {
        keys = [key]
    }

    /// Reads keys of 64 hexadecimal digits each, newest first, separated by commas, spaces or line ends.
    /// - Returns: nil if there are no keys, too many keys, an invalid key or a duplicate.
    init?(_ text: String) {
        let words = text.utf8.split { [UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard (1...Self.countLimit).contains(words.count) else { return nil }
        keys = []
        for word in words {
            guard let bytes = Hex.decode(String(Substring(word))), let key = try? ServerKey(bytes), add(key) else {
                return nil
            }
        }
        keys.reverse()
    }

    /// The keys as `secret.key` stores them: one per line, newest first.
    var text: String { keys.map { $0.text + "\n" }.joined() }

    var newest: ServerKey { keys[0] }
    var oldest: ServerKey { keys[keys.count - 1] }

    /// Adds a key as the newest.
    /// - Returns: False if the ring is full or already has a key with the same id.
    mutating func add(_ key: ServerKey) -> Bool {
        guard keys.count < Self.countLimit, !keys.contains(where: { $0.id == key.id }) else { return false }
        keys.insert(key, at: 0)
        return true
    }

    /// Removes the keys that are older than the key with this id. Does nothing if there is no such key.
    mutating func retire(olderThan id: [UInt8]) {
        guard let index = keys.firstIndex(where: { $0.id == id }) else { return }
        keys.removeSubrange((index + 1)...)
    }
}
