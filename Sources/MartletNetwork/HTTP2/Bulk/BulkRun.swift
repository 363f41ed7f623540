import MartletHTTP

/// A batch that a bulk session is sending.
///
/// This type is a class, because a session accesses its runs several times for each read and write. Copying a struct
/// would retain every reference in it.
final class BulkRun {
    let run: BatchRun
    var template: RequestTemplate
    var frames = BulkFrames()
    /// The number of requests of the batch that are in flight on this connection.
    var open = 0

    /// The time of the next check for timeouts. No request of the batch times out earlier.
    var due: ContinuousClock.Instant

    /// True if the shared parts of the requests contain only valid characters.
    let isWritable: Bool
    let plainSuccess: PlainSuccess
    /// The names of the answer fields that the caller does not read, in the forms of `PlainHead.forms(of:)`.
    let ignoredAnswerFields: [[UInt8]]
    /// The response that `answer(_:_:)` returned last. It is returned again for an equal answer, because most refusals
    /// in a batch are equal.
    private var lastAnswer: HTTPResponse?

    init(_ run: BatchRun) {
        self.run = run
        due = run.deadline
        isWritable = run.batch.shared.isWritable
        plainSuccess = run.batch.shared.plainSuccess
        ignoredAnswerFields = run.batch.shared.ignoredAnswerFields.flatMap { PlainHead.forms(of: $0) }
        template = RequestTemplate(run.batch.shared)
    }

    /// Returns true if an answer to an item is a plain success. The header fields of the answer are not read.
    func isPlainSuccess(_ status: HTTPStatus, _ body: UnsafeRawBufferPointer, of item: UInt32) -> Bool {
        // For most kinds of plain success, the status and the body decide. The batch is then not accessed, because each
        // access would retain its many parts.
        plainSuccess.covers(status, body) ?? plainSuccess.covers(status, body, of: Int(item), in: run.batch)
    }

    /// Returns the response to report for an answer of the peer. The response has no fields, because the caller reads
    /// no fields of such answers.
    func answer(_ status: Int, _ body: UnsafeRawBufferPointer) -> HTTPResponse {
        if let lastAnswer, lastAnswer.status.code == status, lastAnswer.bytes.elementsEqual(body) { return lastAnswer }
        let answer = HTTPResponse(HTTPStatus(status), body: .bytes(Array(body)))
        lastAnswer = answer
        return answer
    }

    /// Stores the request that was written last as a pattern for further requests. Its header block must not have
    /// changed the header table.
    func recordFrame(_ output: [UInt8], from start: Int, dataIndex: Int, bodyCount: Int, version: Int) {
        var parts = template.parts
        if run.batch.shared.body == nil {
            let body = bodyCount == 0 ? dataIndex : dataIndex + HTTP2FrameHeader.size
            parts.append(body..<body + bodyCount)
        }
        frames.record(output, from: start, dataIndex: dataIndex, bodyCount: bodyCount, parts: parts, version: version)
    }
}

/// A single request that a bulk session is sending.
struct BulkSingle {
    let receiver: any ResponseReceiver
    let body: [UInt8]
}

/// The part of a response that has arrived so far. A response that takes a fast path of the session arrives as a whole
/// and needs no such value.
struct BulkAnswer {
    var status = 0
    var fields = HTTPFields()
    var body: [UInt8] = []
    var meter = AnswerMeter()
    /// The number of received bytes on this stream for which no WINDOW_UPDATE has been sent yet.
    var unreturned = 0
    var hasHead: Bool { status >= 200 }
}
