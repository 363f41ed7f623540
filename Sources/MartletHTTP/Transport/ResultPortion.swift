/// A portion of the results of a batch, reported as the results arrive.
public struct ResultPortion: Sendable {
    /// One result that is not a plain success (`PlainSuccess`).
    public struct Answer: Sendable {
        /// The item's index in its batch.
        public let index: Int
        public let result: Result<HTTPResponse, TransportError>
        /// The connection on which the item was sent, numbered from 1 within this process; nil if the item was never
        /// sent.
        public let connection: Int?

        public init(index: Int, result: Result<HTTPResponse, TransportError>, connection: Int? = nil) {
            self.index = index
            self.result = result
            self.connection = connection
        }
    }

    /// The indices of items with a plain success (`RequestBatch.Shared.plainSuccess`).
    public var plainSuccesses: [UInt32]
    /// The results that are not plain successes.
    public var answers: [Answer]

    public init(plainSuccesses: [UInt32] = [], answers: [Answer] = []) {
        self.plainSuccesses = plainSuccesses
        self.answers = answers
    }

    public var count: Int { plainSuccesses.count + answers.count }
}
