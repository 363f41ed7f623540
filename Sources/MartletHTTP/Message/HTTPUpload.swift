/// The body of a request that a client reads while it sends it: a file.
public struct HTTPUpload: Sendable {
    /// Reads exactly so many bytes from an offset on. Called on the connection's loop, so it does not take long.
    public typealias Read = @Sendable (_ offset: Int64, _ count: Int) throws -> [UInt8]

    /// In bytes.
    public let length: Int64
    public let read: Read

    public init(length: Int64, read: @escaping Read) {
        self.length = length
        self.read = read
    }
}
