import MartletHTTP

@testable import MartletNetwork

/// One request of a client session, until its answer is complete.
struct HTTP2ClientStream {
    /// The most that the fields of an answer may take, in bytes.
    static let fieldLimit = 64 * 1024

    let receiver: any ResponseReceiver
    /// The batch that the request was drawn from.
    let run: BatchRun?
    let startedAt: ContinuousClock.Instant
    /// How many answers had come before on the connection.
    let answersBefore: Int
    var output: HTTP2BodyBuffer
    /// Whether the final head was passed on; what fields come then are trailers.
    var hasHead = false
    private(set) var status = 0
    private var fields: [HTTPField] = []
    private var fieldBytes = 0

    init(
        receiver: any ResponseReceiver, run: BatchRun?, body: [UInt8], startedAt: ContinuousClock.Instant,
        answersBefore: Int
    ) {
        self.receiver = receiver
        self.run = run
        self.startedAt = startedAt
        self.answersBefore = answersBefore
        output = HTTP2BodyBuffer(body)
    }

    /// When its answer is late; nil for a request of its own, whose time somebody else limits.
    var due: ContinuousClock.Instant? { run.map { startedAt + $0.answerTime } }

    /// - Returns: false when the fields are too many.
    mutating func append(
        name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>, isValid: Bool
    ) -> Bool {
        fieldBytes += name.count + value.count + 32
        guard fieldBytes <= Self.fieldLimit else { return false }
        guard !hasHead, isValid else { return true }
        let name = String(decoding: name, as: UTF8.self)
        let value = String(decoding: value, as: UTF8.self)
        if name == ":status" {
            status = Int(value) ?? 0
        } else {
            fields.append(HTTPField(name, value))
        }
        return true
    }

    /// The head of an answer is complete.
    /// - Returns: The head, or nil where it is an informational one and the final one follows.
    mutating func finishHead() -> HTTPResponse? {
        let head = HTTPResponse(HTTPStatus(status), fields: HTTPFields(fields))
        fields = []
        guard status >= 200 else { return nil }
        hasHead = true
        return head
    }
}
