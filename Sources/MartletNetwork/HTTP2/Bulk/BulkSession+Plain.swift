import MartletHTTP

/// The two fast paths, for sending and for receiving, that most pushes of a broadcast take.
///
/// For speed, they temporarily move the state that they use into local variables. All other requests and responses take
/// the normal path of the session. For measurements, see Docs/Decisions/0003.
extension BulkSession {
    /// Writes requests as copies of earlier requests, as long as a pattern matches and the peer's limits allow it.
    func copyFrames(of run: BatchRun, at index: Int, atMost count: Int, into output: inout [UInt8], limit: Int) {
        guard unwritten.isEmpty, var frames = runs[index]?.frames, frames.areValid(for: table.version),
            frames.longestBody <= min(peer.initialWindow, peer.maxFrameSize)
        else { return }
        let space = (max(0, limit - output.count) + frames.longest - 1) / frames.longest
        let windows = frames.longestBody == 0 ? Int.max : max(0, window) / frames.longestBody
        let items = run.fresh(atMost: min(count, space, windows, room))
        guard !items.isEmpty else { return }
        let fieldCount = run.batch.shared.itemFieldNames.count
        let wasIdle = ring.count == 0
        let (ticks, answersBefore) = (ticks, answersBefore)
        var ring = BulkStreamRing(capacity: 0)
        swap(&ring, &self.ring)
        var id = nextID
        var next = items.lowerBound
        var bodies = 0
        run.batch.withParts { parts in
            while next < items.upperBound, let free = ring.firstFree(from: id) {
                guard parts.isWritable(next, fieldCount: fieldCount),
                    let bodyCount = frames.copy(next, of: parts, on: free, into: &output)
                else { break }
                var stream = BulkStream(
                    id: free, run: Int32(index), item: UInt32(next), window: peer.initialWindow - bodyCount)
                stream.sent = Int32(bodyCount)
                stream.isWritten = true
                stream.startedAt = ticks
                stream.answersBefore = answersBefore
                ring.open(stream)
                bodies += bodyCount
                id = free + 2
                next += 1
            }
        }
        swap(&ring, &self.ring)
        nextID = id
        let written = next - items.lowerBound
        window -= bodies
        run.draw(written)
        flood.sentRequests(written)
        runs[index]?.frames = frames
        runs[index]?.open += written
        if wasIdle, written > 0 { becameBusy() }
    }

    /// Consumes plain successes, and refusals whose header fields the caller does not read, at the beginning of the
    /// input.
    ///
    /// Here, a plain success is one HEADERS frame with a whole header block that begins with `:status 200`. Either this
    /// frame ends the answer, or a single DATA frame follows and ends the answer.
    /// - Returns: The number of consumed bytes.
    func takeSuccesses(_ input: UnsafeRawBufferPointer) -> Int {
        guard isTableEmpty, blockHead == nil, answers.isEmpty else { return 0 }
        var ring = BulkStreamRing(capacity: 0)
        swap(&ring, &self.ring)
        var taken = 0
        var index: Int32 = -1
        var run: BulkRun?
        var items: [UInt32] = []
        var last = BulkStream()
        var bodies = 0
        while true {
            guard let answer = PlainAnswer(input, at: taken), ring.isOpen(answer.stream) else {
                guard let (end, body) = takeRefusal(input, at: taken, &ring) else { break }
                bodies += body
                taken = end
                continue
            }
            let stream = ring[answer.stream]
            guard stream.run >= 0, stream.isWritten else { break }
            if stream.run != index {
                succeeded(items, ofRunAt: index, last: last)
                items.removeAll(keepingCapacity: true)
                index = stream.run
                run = runs[Int(index)]
            }
            guard run?.isPlainSuccess(.ok, answer.body, of: stream.item) == true else { break }
            items.append(stream.item)
            last = stream
            ring.close(answer.stream)
            bodies += answer.body.count
            taken = answer.end
        }
        swap(&ring, &self.ring)
        succeeded(items, ofRunAt: index, last: last)
        if bodies > 0 { returnWindow(bodies) }
        return taken
    }

    /// Consumes an answer that is not a plain success, if the caller reads none of its fields.
    /// - Parameter ring: The session's streams, which the caller has moved into a local variable.
    /// - Returns: The end of the answer in the input, and the length of its body; nil if no such answer begins at
    ///   `start`.
    private func takeRefusal(
        _ input: UnsafeRawBufferPointer, at start: Int, _ ring: inout BulkStreamRing
    ) -> (end: Int, body: Int)? {
        guard let id = PlainRefusal.stream(input, at: start), ring.isOpen(id) else { return nil }
        let stream = ring[id]
        guard stream.run >= 0, stream.isWritten, let run = runs[Int(stream.run)], !run.ignoredAnswerFields.isEmpty,
            let answer = PlainRefusal(input, at: start, ignoring: run.ignoredAnswerFields),
            !run.isPlainSuccess(HTTPStatus(answer.status), answer.body, of: stream.item)
        else { return nil }
        ring.close(id)
        answered(last: stream)
        status.answered(with: answer.status)
        run.open -= 1
        run.run.answered(Int(stream.item), .success(run.answer(answer.status, answer.body)), on: number)
        return (answer.end, answer.body.count)
    }

    private func succeeded(_ items: [UInt32], ofRunAt index: Int32, last: BulkStream) {
        guard !items.isEmpty, index >= 0 else { return }
        answered(items.count, last: last)
        runs[Int(index)]?.open -= items.count
        runs[Int(index)]?.run.succeeded(items)
    }
}

/// A 200 response in the form that most push services send: one HEADERS frame with a self-contained header block,
/// followed by no body or by one DATA frame.
private struct PlainAnswer {
    private typealias Flag = HTTP2FrameHeader.Flag

    let stream: Int32
    let body: UnsafeRawBufferPointer
    /// The offset in the input of the first byte after the response.
    let end: Int

    /// Parses the response that begins at `start`; nil if no such response begins there, or if it is incomplete.
    init?(_ input: UnsafeRawBufferPointer, at start: Int) {
        guard let head = HTTP2FrameHeader(complete: input, at: start), head.kind == HTTP2FrameHeader.Kind.headers,
            head.flags & ~Flag.endStream == Flag.endHeaders, head.length > 0
        else { return nil }
        let block = start + HTTP2FrameHeader.size
        guard input[block] == 0x88 else { return nil }
        stream = head.stream
        guard !head.has(Flag.endStream) else {
            body = UnsafeRawBufferPointer(start: nil, count: 0)
            end = block + head.length
            return
        }
        let after = block + head.length
        guard let data = HTTP2FrameHeader(complete: input, at: after), data.kind == HTTP2FrameHeader.Kind.data,
            data.flags == Flag.endStream, data.stream == stream
        else { return nil }
        end = after + HTTP2FrameHeader.size + data.length
        body = UnsafeRawBufferPointer(rebasing: input[after + HTTP2FrameHeader.size..<end])
    }
}
