/// A request body, such as a file, that the client reads piece by piece while sending it.
public struct HTTPUpload: Sendable {
    /// Reads exactly `count` bytes starting at `offset`. Called on the connection's loop, so it must return quickly.
    public typealias Read = @Sendable (_ offset: Int64, _ count: Int) throws -> [UInt8]

    /// The length of the body, in bytes.
    public let length: Int64
    public let read: Read

    public init(length: Int64, read: @escaping Read) {
        self.length = length
        self.read = read
    }
}
