import MartletCrypto

/// Reads an archive in exactly the form that `ArchiveWriter` writes: the members in order, followed by their digests.
/// All members are verified against these digests.
struct ArchiveReader {
    /// Reads at most the given number of bytes of the archive. Returns an empty array at the end of the archive.
    private let source: (Int) throws -> [UInt8]
    private var sums = ""
    /// The header of the current member, the number of its unread bytes, and the hasher of its digest.
    private var current: (header: ArchiveHeader, left: Int64, hasher: SHA256Hasher)?

    init(_ source: @escaping (Int) throws -> [UInt8]) {
        self.source = source
    }

    /// Advances to the next member.
    ///
    /// The previous member must have been read completely.
    /// - Returns: The header of the member; nil after the last member, if all digests match and no data follows.
    /// - Throws: `BackupError`, or an error of the source.
    mutating func next() throws -> ArchiveHeader? {
        guard let header = ArchiveHeader(try bytes(ArchiveHeader.byteCount)) else {
            throw BackupError.damaged("a header is not as it was written")
        }
        guard header.name != ArchiveWriter.sumsName else {
            try checkEnd(header)
            return nil
        }
        current = (header, header.size, try SHA256Hasher())
        return header
    }

    /// Reads the next piece of the current member.
    /// - Returns: At most `count` bytes; nil at the end of the member.
    mutating func read(_ count: Int) throws -> [UInt8]? {
        guard let (header, left, hasher) = current else { return nil }
        guard left > 0 else {
            current = nil
            try skipPadding(header)
            sums += ArchiveWriter.line(header.name, try hasher.finish())
            return nil
        }
        let piece = try bytes(Int(min(Int64(count), left)))
        try hasher.update(piece)
        current = (header, left - Int64(piece.count), hasher)
        return piece
    }

    /// Reads the whole content of the current member.
    /// - Parameter limit: The maximum size of the member, in bytes.
    mutating func readAll(limit: Int64) throws -> [UInt8] {
        guard let header = current?.header, header.size <= limit else {
            throw BackupError.damaged("a member is larger than it can be")
        }
        var content: [UInt8] = []
        while let piece = try read(Self.pieceSize) { content += piece }
        return content
    }

    static let pieceSize = 1 << 20

    private func checkEnd(_ header: ArchiveHeader) throws {
        guard header.size == Int64(sums.utf8.count) else {
            throw BackupError.damaged("it lists other members than it has")
        }
        let written = try bytes(sums.utf8.count)
        guard written.elementsEqual(sums.utf8) else {
            let index = zip(written, sums.utf8).prefix { $0 == $1 }.count
            let line = sums.utf8.prefix(index).count { $0 == UInt8(ascii: "\n") }
            let lines = sums.split(separator: "\n")
            let name = line < lines.count ? lines[line].split(separator: " ").last ?? "" : ""
            throw BackupError.damaged("'\(name)' is not what was written")
        }
        try skipPadding(header)
        guard try bytes(2 * ArchiveHeader.byteCount).allSatisfy({ $0 == 0 }), try source(1).isEmpty else {
            throw BackupError.damaged("something follows its end")
        }
    }

    private func skipPadding(_ header: ArchiveHeader) throws {
        guard try bytes(header.padding).allSatisfy({ $0 == 0 }) else {
            throw BackupError.damaged("there is something between its members")
        }
    }

    private func bytes(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let piece = try source(count - bytes.count)
            if piece.isEmpty { throw BackupError.truncated }
            bytes = bytes.isEmpty ? piece : bytes + piece
        }
        return bytes
    }
}
