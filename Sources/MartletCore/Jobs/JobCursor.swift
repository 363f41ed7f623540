/// The stored progress of a job. If the process was killed, the job truncates its files to the lengths in the cursor,
/// and continues without losing or repeating a line.
public struct JobCursor: Hashable, Sendable {
    /// The progress of one output file.
    public struct Written: Hashable, Sendable {
        /// The number of bytes of the file that are on disk.
        public var bytes: Int64 = 0
        /// The bytes to write after the `bytes` on disk; they may not be on disk yet.
        public var pending: [UInt8] = []

        public init(bytes: Int64 = 0, pending: [UInt8] = []) {
            self.bytes = bytes
            self.pending = pending
        }
    }

    /// The number of processed bytes of an import's input; `line` is the number of processed lines.
    public var inputOffset: Int64 = 0
    public var line: Int64 = 0
    /// For imports: the entity tag of the input file. A different tag shows that the file was replaced.
    public var inputTag = ""
    /// For exports: the sequence number of the last registration that was exported.
    public var sequence: Int64?
    /// The number of exported registrations.
    public var count: Int64 = 0
    public var output = Written()
    public var failed = Written()
    /// True if the files are complete and only have to be committed.
    public var isWritten = false

    public init() {}
}
