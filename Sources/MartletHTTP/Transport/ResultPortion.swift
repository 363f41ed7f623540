/// Some results of a batch, told as they come.
public struct ResultPortion: Sendable {
    /// One result that is more than a plain success.
    public struct Answer: Sendable {
        /// The item's index in its batch.
        public let index: Int
        public let result: Result<HTTPResponse, TransportError>
        /// Which connection of the process it was sent on, from 1; nil where it was sent on none.
        public let connection: Int?

        public init(index: Int, result: Result<HTTPResponse, TransportError>, connection: Int? = nil) {
            self.index = index
            self.result = result
            self.connection = connection
        }
    }

    /// Items whose answer was a plain success (`RequestBatch.Shared.plainSuccess`).
    public var plainSuccesses: [UInt32]
    /// All others, with what came.
    public var answers: [Answer]

    public init(plainSuccesses: [UInt32] = [], answers: [Answer] = []) {
        self.plainSuccesses = plainSuccesses
        self.answers = answers
    }

    public var count: Int { plainSuccesses.count + answers.count }
}
