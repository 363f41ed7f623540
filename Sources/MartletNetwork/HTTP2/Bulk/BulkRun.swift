import MartletHTTP

/// A batch in the hands of a bulk session. A class, because a session asks its runs several times for each read and write,
/// and a copy of a struct counts the references of all that is in it.
final class BulkRun {
    let run: BatchRun
    var template: RequestTemplate
    var frames = BulkFrames()
    /// How many of its requests wait for their answers here.
    var open = 0

    /// No request is late before.
    var due: ContinuousClock.Instant

    /// Whether what the requests share can be sent as it is.
    let isWritable: Bool
    let plainSuccess: PlainSuccess

    init(_ run: BatchRun) {
        self.run = run
        due = run.deadline
        isWritable = run.batch.shared.isWritable
        plainSuccess = run.batch.shared.plainSuccess
        template = RequestTemplate(run.batch.shared)
    }

    /// The request that was written last is the pattern of others; its header block must have changed no table.
    func recordFrame(_ output: [UInt8], from start: Int, dataIndex: Int, bodyCount: Int, version: Int) {
        var parts = template.parts
        if run.batch.shared.body == nil {
            let body = bodyCount == 0 ? dataIndex : dataIndex + HTTP2FrameHeader.size
            parts.append(body..<body + bodyCount)
        }
        frames.record(output, from: start, dataIndex: dataIndex, bodyCount: bodyCount, parts: parts, version: version)
    }
}

/// A request of its own in the hands of a bulk session.
struct BulkSingle {
    let receiver: any ResponseReceiver
    let body: [UInt8]
}

/// An answer that is more than a plain success, as far as it has come.
struct BulkAnswer {
    var status = 0
    var fields = HTTPFields()
    var body: [UInt8] = []
    /// How much of the stream's window our side owes the peer.
    var unreturned = 0
    var hasHead: Bool { status >= 200 }
}
