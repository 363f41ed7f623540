/// A request's body that is too large for memory, read while it is sent.
public struct ClientUpload: Sendable {
    /// Reads so many bytes from an offset on, which lies within the body.
    public typealias Read = @Sendable (_ offset: Int64, _ count: Int) throws -> [UInt8]

    /// How much a transport asks for at a time, at most, in bytes.
    public static let pieceByteCount = 64 * 1024

    /// In bytes.
    public let length: Int64
    /// May be called on any thread and for the same place again. Throws where the file has become shorter or cannot be
    /// read; the request cannot be finished then.
    public let read: Read

    init(length: Int64, read: @escaping Read) {
        self.length = length
        self.read = read
    }

    /// Hands out the body from front to back.
    /// - Parameter piece: Takes 1 to `pieceByteCount` bytes.
    /// - Throws: What reading or `piece` throws.
    public func forEachPiece(_ piece: ([UInt8]) throws -> Void) throws {
        var offset: Int64 = 0
        while offset < length {
            let bytes = try read(offset, Int(min(Int64(Self.pieceByteCount), length - offset)))
            try piece(bytes)
            offset += Int64(bytes.count)
        }
    }
}
