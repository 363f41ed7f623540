import MartletHTTP

/// The two short cuts that most pushes of a broadcast take. What they touch is moved into local variables meanwhile, and
/// whatever is not plain is left to the rest of the session. Docs/Decisions/0080 has the figures.
extension BulkSession {
    /// Writes requests as copies of the one before, as long as they fit it and the peer's limits.
    func copyFrames(of run: BatchRun, at place: Int, atMost count: Int, into output: inout [UInt8], limit: Int) {
        guard unwritten.isEmpty, let frame = runs[place]?.frame, frame.isValid(for: table.version),
            frame.bodyCount <= min(peer.initialWindow, peer.maxFrameSize)
        else { return }
        let room = (max(0, limit - output.count) + frame.count - 1) / frame.count
        let windows = frame.bodyCount == 0 ? Int.max : max(0, window) / frame.bodyCount
        let items = run.fresh(atMost: min(count, room, windows, capacity))
        guard !items.isEmpty else { return }
        let fieldCount = run.batch.shared.itemFieldNames.count
        let wasIdle = ring.count == 0
        let ticks = ticks
        var ring = BulkStreamRing(capacity: 0)
        swap(&ring, &self.ring)
        var id = nextID
        var next = items.lowerBound
        run.batch.withParts { parts in
            while next < items.upperBound, let free = ring.firstFree(from: id) {
                guard parts.isWritable(next, fieldCount: fieldCount),
                    frame.copy(next, of: parts, on: free, into: &output)
                else { break }
                var stream = BulkStream(
                    id: free, run: Int32(place), item: UInt32(next), window: peer.initialWindow - frame.bodyCount)
                stream.sent = Int32(frame.bodyCount)
                stream.isWritten = true
                stream.startedAt = ticks
                ring.open(stream)
                id = free + 2
                next += 1
            }
        }
        swap(&ring, &self.ring)
        nextID = id
        let written = next - items.lowerBound
        window -= written * frame.bodyCount
        run.draw(written)
        runs[place]?.open += written
        if next < items.upperBound { runs[place]?.frame.clear() }
        if wasIdle, written > 0 { becameBusy() }
    }

    /// Takes plain successes from the beginning of the input: `:status 200` in a block that stands alone, and the end
    /// of the answer.
    /// - Returns: How many bytes they were.
    func takeSuccesses(_ input: UnsafeRawBufferPointer) -> Int {
        guard isTableEmpty, blockHead == nil, answers.isEmpty else { return 0 }
        var ring = BulkStreamRing(capacity: 0)
        swap(&ring, &self.ring)
        var taken = 0
        var place: Int32 = -1
        var items: [UInt32] = []
        var last = BulkStream()
        while input.count - taken > HTTP2FrameHeader.size {
            let head = HTTP2FrameHeader(UnsafeRawBufferPointer(rebasing: input[taken...]))
            let end = taken + HTTP2FrameHeader.size + head.length
            guard head.kind == HTTP2FrameHeader.Kind.headers, head.length > 0, end <= input.count,
                head.length <= Self.frameLimit,
                head.flags == HTTP2FrameHeader.Flag.endHeaders | HTTP2FrameHeader.Flag.endStream,
                input[taken + HTTP2FrameHeader.size] == 0x88, ring.isOpen(head.stream)
            else { break }
            let stream = ring[head.stream]
            guard stream.run >= 0, stream.isWritten else { break }
            if stream.run != place {
                if runs[Int(stream.run)]?.tellsSuccessesInFull == true { break }
                succeeded(items, ofRunAt: place, last: last)
                items.removeAll(keepingCapacity: true)
                place = stream.run
            }
            items.append(stream.item)
            last = stream
            ring.close(head.stream)
            taken = end
        }
        swap(&ring, &self.ring)
        succeeded(items, ofRunAt: place, last: last)
        return taken
    }

    private func succeeded(_ items: [UInt32], ofRunAt place: Int32, last: BulkStream) {
        guard !items.isEmpty, place >= 0 else { return }
        answered(items.count, last: last)
        runs[Int(place)]?.open -= items.count
        runs[Int(place)]?.run.succeeded(items)
    }
}
