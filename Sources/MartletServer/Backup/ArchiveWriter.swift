import MartletCrypto

/// Writes an archive: its members one after another, followed by the digests of all members in the format of
/// `sha256sum`.
///
/// Each method returns the bytes that the caller must write next. A writer must be used by only one task.
struct ArchiveWriter {
    static let sumsName = "SHA256SUMS"

    /// The time of every member, in seconds since 1970.
    let time: Int64
    private var sums = ""
    private var current: (header: ArchiveHeader, hasher: SHA256Hasher)?

    init(time: Int64) {
        self.time = time
    }

    /// Begins a member.
    /// - Parameter size: The size of the content that follows, in bytes.
    /// - Returns: The header of the member.
    mutating func begin(_ name: String, size: Int64) throws(CryptoError) -> [UInt8] {
        let header = ArchiveHeader(name: name, size: size, time: time)
        current = (header, try SHA256Hasher())
        return header.bytes
    }

    /// Adds a piece of content to the digest of the current member.
    ///
    /// The caller writes the piece itself.
    func add(_ bytes: [UInt8]) throws(CryptoError) {
        try current?.hasher.update(bytes)
    }

    /// Ends the current member, and returns the bytes that follow its content.
    mutating func end() throws(CryptoError) -> [UInt8] {
        guard let (header, hasher) = current else { return [] }
        current = nil
        sums += Self.line(header.name, try hasher.finish())
        return [UInt8](repeating: 0, count: header.padding)
    }

    /// Returns the bytes of a whole member: header, content and padding.
    mutating func member(_ name: String, _ content: [UInt8]) throws(CryptoError) -> [UInt8] {
        let head = try begin(name, size: Int64(content.count))
        try add(content)
        return head + content + (try end())
    }

    /// Returns the member with the digests, and the end of the archive.
    mutating func finish() throws(CryptoError) -> [UInt8] {
        try member(Self.sumsName, Array(sums.utf8)) + [UInt8](repeating: 0, count: 2 * ArchiveHeader.byteCount)
    }

    static func line(_ name: String, _ digest: [UInt8]) -> String { "\(Hex.encode(digest))  \(name)\n" }
}
