/// How far a job has come, durably: with it, and with its files cut to these lengths, it goes on after any kill without a
/// row lost or done twice.
public struct JobCursor: Hashable, Sendable {
    /// What is known of each of its files.
    public struct Written: Hashable, Sendable {
        /// How many bytes are on disk.
        public var bytes: Int64 = 0
        /// What comes after them: decided, and not yet known to be on disk.
        public var pending: [UInt8] = []

        public init(bytes: Int64 = 0, pending: [UInt8] = []) {
            self.bytes = bytes
            self.pending = pending
        }
    }

    /// Imports: up to where the file is done with, in bytes and lines.
    public var inputOffset: Int64 = 0
    public var line: Int64 = 0
    /// The version of the file that is being read.
    public var inputTag = ""
    /// Exports: the last registration that is done with.
    public var sequence: Int64?
    /// How many registrations were exported.
    public var count: Int64 = 0
    public var output = Written()
    public var failed = Written()
    /// Everything is in the files, which only have to take their places.
    public var isWritten = false

    public init() {}
}
