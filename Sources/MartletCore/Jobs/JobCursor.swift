/// The durable progress of a job. Given the cursor, and with the files truncated to the lengths in it, the job
/// continues after any kill without losing or repeating a row.
public struct JobCursor: Hashable, Sendable {
    /// The progress of one output file.
    public struct Written: Hashable, Sendable {
        /// The number of bytes on disk.
        public var bytes: Int64 = 0
        /// The bytes to write after the `bytes` on disk; they may not be on disk yet.
        public var pending: [UInt8] = []

        public init(bytes: Int64 = 0, pending: [UInt8] = []) {
            self.bytes = bytes
            self.pending = pending
        }
    }

    /// For imports, the end of the processed part of the input, in bytes and in lines.
    public var inputOffset: Int64 = 0
    public var line: Int64 = 0
    /// The entity tag of the input file.
    public var inputTag = ""
    /// For exports, the last registration that was exported.
    public var sequence: Int64?
    /// The number of exported registrations.
    public var count: Int64 = 0
    public var output = Written()
    public var failed = Written()
    /// Whether the files are complete and only have to be committed.
    public var isWritten = false

    public init() {}
}
