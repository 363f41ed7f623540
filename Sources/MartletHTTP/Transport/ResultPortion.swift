/// Some results of a batch, reported as they arrive.
public struct ResultPortion: Sendable {
    /// One result that is more than a plain success.
    public struct Answer: Sendable {
        /// The item's index in its batch.
        public let index: Int
        public let result: Result<HTTPResponse, TransportError>
        /// The number of the connection in this process that the item was sent on, from 1; nil if it was never sent.
        public let connection: Int?

        public init(index: Int, result: Result<HTTPResponse, TransportError>, connection: Int? = nil) {
            self.index = index
            self.result = result
            self.connection = connection
        }
    }

    /// The indices of items with a plain success (`RequestBatch.Shared.plainSuccess`).
    public var plainSuccesses: [UInt32]
    /// All other results.
    public var answers: [Answer]

    public init(plainSuccesses: [UInt32] = [], answers: [Answer] = []) {
        self.plainSuccesses = plainSuccesses
        self.answers = answers
    }

    public var count: Int { plainSuccesses.count + answers.count }
}
