/// A request body that the client reads while sending it, such as a file.
public struct HTTPUpload: Sendable {
    /// Reads exactly `count` bytes from `offset` on. Called on the connection's loop, so it must be fast.
    public typealias Read = @Sendable (_ offset: Int64, _ count: Int) throws -> [UInt8]

    /// The length of the body, in bytes.
    public let length: Int64
    public let read: Read

    public init(length: Int64, read: @escaping Read) {
        self.length = length
        self.read = read
    }
}
