/// A request body that is too large for memory and is read while it is sent.
public struct ClientUpload: Sendable {
    /// Reads `count` bytes from an offset within the body.
    public typealias Read = @Sendable (_ offset: Int64, _ count: Int) throws -> [UInt8]

    /// The maximum number of bytes that a transport reads at a time.
    public static let pieceByteCount = 64 * 1024

    /// The length of the body in bytes.
    public let length: Int64
    /// Reads a part of the body. May be called on any thread and repeatedly for the same offset. Throws if the file has
    /// become shorter or cannot be read; the request cannot be completed then.
    public let read: Read

    init(length: Int64, read: @escaping Read) {
        self.length = length
        self.read = read
    }

    /// Passes the body to `piece` sequentially.
    /// - Parameter piece: Receives 1 to `pieceByteCount` bytes.
    /// - Throws: The errors of reading and of `piece`.
    public func forEachPiece(_ piece: ([UInt8]) throws -> Void) throws {
        var offset: Int64 = 0
        while offset < length {
            let bytes = try read(offset, Int(min(Int64(Self.pieceByteCount), length - offset)))
            try piece(bytes)
            offset += Int64(bytes.count)
        }
    }
}
