import MartletHTTP

/// Functions that encode and send requests.
extension BulkSession {
    /// Writes waiting bodies and then draws further requests, until `output` is full or the peer's limits are reached.
    func fill(_ output: inout [UInt8], limit: Int) {
        writeBodies(into: &output, limit: limit)
        while output.count < limit, unwritten.isEmpty, room > 0,
            let turn = turns.next(of: runs.count, status)
        {
            if !draw(turn, into: &output, limit: limit) { break }
        }
    }

    private func status(_ index: Int) -> BatchScheduler.BatchState {
        guard let run = runs[index]?.run, now < run.deadline else { return .empty }
        return run.status
    }

    /// Draws the requests that a batch may send in its turn, and writes them.
    /// - Returns: False if the connection accepts no more requests.
    private func draw(_ turn: BatchScheduler.Turn, into output: inout [UInt8], limit: Int) -> Bool {
        guard let run = runs[turn.index]?.run else { return true }
        let rest = max(0, run.waiting - turn.items)
        while output.count < limit, unwritten.isEmpty, room > 0, run.waiting > rest {
            copyFrames(of: run, at: turn.index, atMost: run.waiting - rest, into: &output, limit: limit)
            guard output.count < limit, room > 0, run.waiting > rest, let item = run.next() else { break }
            if !write(item, ofRunAt: turn.index, run, into: &output) { return false }
        }
        return true
    }

    /// Opens a stream with the next free id.
    /// - Returns: The stream id; nil if no ids are left. The connection is then replaced.
    func openStream(run: Int32, item: UInt32) -> Int32? {
        if ring.count * 2 > ring.capacity { ring.grow(to: ring.capacity * 2) }
        while nextID < Int32.max - 2, !ring.isFree(nextID) { nextID += 2 }
        guard nextID < Int32.max - 2 else {
            stopOpening()
            return nil
        }
        if ring.count == 0 { becameBusy() }
        ring.open(
            BulkStream(
                id: nextID, run: run, item: item, window: peer.initialWindow, startedAt: ticks,
                answersBefore: answersBefore))
        flood.sentRequests(1)
        defer { nextID += 2 }
        return nextID
    }

    private func write(_ item: Int, ofRunAt index: Int, _ run: BatchRun, into output: inout [UInt8]) -> Bool {
        guard runs[index]?.isWritable == true, run.batch.isWritable(item) else {
            run.answered(item, .failure(.unwritable))
            hasRefused = true
            return true
        }
        guard let id = openStream(run: Int32(index), item: UInt32(item)) else {
            run.giveBack(item)
            return false
        }
        runs[index]?.open += 1
        let length = run.batch.withBody(item) { $0.count }
        let start = HTTP2FrameWriter.reserveHeader(in: &output)
        let isKnown = runs[index]?.template.isCurrent(table) ?? false
        runs[index]?.template.write(item, of: run.batch, bodyCount: length, table: &table, into: &output)
        let dataIndex = output.count
        HTTP2FrameWriter.headers(
            at: start, on: id, isLast: length == 0, maxFrameSize: peer.maxFrameSize, into: &output)
        if length > 0 {
            run.batch.withBody(item) { writeBody($0, of: id, into: &output) }
        } else {
            ring[id].isWritten = true
        }
        if !ring[id].isWritten {
            unwritten.append(id)
        } else if isKnown {
            runs[index]?.recordFrame(
                output, from: start, dataIndex: dataIndex, bodyCount: length, version: table.version)
        }
        return true
    }

    /// Writes as much of a body as the flow-control windows allow.
    private func writeBody(_ body: UnsafeBufferPointer<UInt8>, of id: Int32, into output: inout [UInt8]) {
        var sent = Int(ring[id].sent)
        while sent < body.count {
            let count = min(body.count - sent, peer.maxFrameSize, window, ring[id].window)
            guard count > 0 else { break }
            let isLast = sent + count == body.count
            HTTP2FrameWriter.header(
                HTTP2FrameHeader(
                    length: count, kind: HTTP2FrameHeader.Kind.data,
                    flags: isLast ? HTTP2FrameHeader.Flag.endStream : 0, stream: id),
                into: &output)
            output.append(contentsOf: UnsafeBufferPointer(rebasing: body[sent..<sent + count]))
            window -= count
            ring[id].window -= count
            if sent > 0 { flood.sentMoreData() }
            sent += count
        }
        ring[id].sent = Int32(sent)
        ring[id].isWritten = sent == body.count
    }

    private func writeBodies(into output: inout [UInt8], limit: Int) {
        guard !unwritten.isEmpty, window > 0 else { return }
        var left: [Int32] = []
        for id in unwritten where ring.isOpen(id) {
            if output.count < limit { writeRest(of: id, into: &output) }
            if !ring[id].isWritten { left.append(id) }
        }
        unwritten = left
    }

    private func writeRest(of id: Int32, into output: inout [UInt8]) {
        let stream = ring[id]
        if stream.run < 0 {
            let body = singles[id]?.body ?? []
            body.withUnsafeBufferPointer { writeBody($0, of: id, into: &output) }
        } else if let run = runs[Int(stream.run)]?.run {
            run.batch.withBody(Int(stream.item)) { writeBody($0, of: id, into: &output) }
        }
    }

    // MARK: Closing streams

    /// Removes a stream. If a code is given, also sends RST_STREAM.
    @discardableResult
    func close(_ id: Int32, reset code: HTTP2ErrorCode? = nil) -> BulkStream? {
        guard let stream = ring.close(id) else { return nil }
        if let code {
            HTTP2FrameWriter.reset(id, code, into: &control)
            flood.canceledRequest()
        }
        if !stream.isWritten { unwritten.removeAll { $0 == id } }
        if stream.run >= 0 { runs[Int(stream.run)]?.open -= 1 }
        answers[id] = nil
        return stream
    }

    /// Fails a request that will get no response. A request that the peer did not process is returned to its batch.
    /// - Parameter code: The code of the RST_STREAM that is sent; nil to send none.
    func fail(_ id: Int32, _ error: TransportError, reset code: HTTP2ErrorCode? = nil) {
        guard let stream = close(id, reset: code) else { return }
        guard stream.run >= 0 else {
            singles.removeValue(forKey: id)?.receiver.failed(error)
            return
        }
        let run = runs[Int(stream.run)]?.run
        if error.mayHaveBeenProcessed {
            run?.answered(Int(stream.item), .failure(error), on: number)
        } else if goAway != nil {
            let hasAnswered = stream.answersBefore != answersBefore
            run?.giveBack(Int(stream.item), hasAnswered: hasAnswered, error, from: number)
        } else {
            run?.giveBack(Int(stream.item))
        }
    }
}
