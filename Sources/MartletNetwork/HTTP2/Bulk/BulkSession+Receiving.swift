import MartletHTTP

/// Functions that handle received HEADERS and DATA frames.
extension BulkSession {
    private typealias Kind = HTTP2FrameHeader.Kind
    private typealias Flag = HTTP2FrameHeader.Flag

    func take(_ head: HTTP2FrameHeader, _ payload: UnsafeRawBufferPointer) {
        if blockHead != nil, head.kind != Kind.continuation {
            return giveUp(.protocolError, "the peer interrupted a header block")
        }
        let isOver = head.stream > 0 && !ring.isOpen(head.stream)
        guard flood.allows(head, ofStreamThatIsOver: isOver, at: now) else {
            return giveUp(.enhanceYourCalm, "the peer floods the connection")
        }
        switch head.kind {
        case Kind.headers: takeHeaders(head, payload)
        case Kind.continuation: takeContinuation(head, payload)
        case Kind.data: takeData(head, payload)
        case Kind.settings: takeSettings(head, payload)
        case Kind.windowUpdate: takeWindowUpdate(head, payload)
        case Kind.reset: takeReset(head, payload)
        case Kind.goAway: takeGoAway(head, payload)
        case Kind.ping: takePing(head, payload)
        case Kind.pushPromise: giveUp(.protocolError, "the peer pushes, which was forbidden")
        default: break
        }
    }

    // MARK: Header blocks

    private func takeHeaders(_ head: HTTP2FrameHeader, _ payload: UnsafeRawBufferPointer) {
        guard head.stream > 0, head.stream & 1 == 1, head.stream < nextID else {
            return giveUp(.protocolError, "the peer answered a request that was never sent")
        }
        // The fast path: one HEADERS frame that is a whole header block, begins with an indexed `:status 200` and ends
        // the response.
        if isTableEmpty, head.flags == Flag.endHeaders | Flag.endStream, payload.first == 0x88,
            ring.isOpen(head.stream), plainSuccess(of: ring[head.stream]) == .empty,
            answers.isEmpty || answers[head.stream] == nil
        {
            return succeed(head.stream)
        }
        guard let fragment = Self.withoutPadding(head, payload) else {
            return giveUp(.protocolError, "the peer padded a frame beyond its end")
        }
        guard head.has(Flag.endHeaders) else {
            blockHead = head
            block = Array(fragment)
            return
        }
        complete(head, block: fragment)
    }

    private func takeContinuation(_ head: HTTP2FrameHeader, _ payload: UnsafeRawBufferPointer) {
        guard let first = blockHead, first.stream == head.stream else {
            return giveUp(.protocolError, "the peer continued a header block that it had not begun")
        }
        block += payload
        guard block.count <= Self.blockLimit, !payload.isEmpty else {
            return giveUp(.enhanceYourCalm, "the peer sent a header block that is too long")
        }
        guard head.has(Flag.endHeaders) else { return }
        blockHead = nil
        let whole = block
        block = []
        whole.withUnsafeBytes { complete(first, block: $0) }
    }

    private func complete(_ head: HTTP2FrameHeader, block: UnsafeRawBufferPointer) {
        let id = head.stream
        let isOpen = ring.isOpen(id)
        let isTrailer = answers[id]?.hasHead ?? false
        var status: Int?
        var fields = HTTPFields()
        var size = 0
        let isSound = inflater.decode(block) { name, value in
            size += name.count + value.count + 32
            guard isOpen, !isTrailer, size <= Self.blockLimit else { return }
            let value = String(decoding: value, as: UTF8.self)
            if name.elementsEqual(":status".utf8) {
                status = Int(value)
            } else {
                fields.append(HTTPField(String(decoding: name, as: UTF8.self), value))
            }
        }
        guard isSound else { return giveUp(.compressionError, "the peer sent a header block that cannot be read") }
        guard isOpen else { return }
        if !isTrailer {
            guard let status, (100..<1000).contains(status), size <= Self.blockLimit else {
                return refuse(id, "the peer sent an answer without a status, or with too many fields")
            }
            if status >= 200 {
                receivedHead(status, fields, of: id)
            } else if let excess = answers[id, default: BulkAnswer()].meter.countInformational() {
                return giveUp(.enhanceYourCalm, excess)
            }
        } else if !head.has(Flag.endStream) {
            return refuse(id, "the peer sent trailers that do not end the answer")
        }
        if head.has(Flag.endStream) { finish(id) }
    }

    private func receivedHead(_ status: Int, _ fields: HTTPFields, of id: Int32) {
        if let single = singles[id] {
            answers[id] = BulkAnswer(status: status)
            single.receiver.receivedHead(HTTPResponse(HTTPStatus(status), fields: fields))
        } else {
            answers[id] = BulkAnswer(status: status, fields: fields)
        }
    }

    /// Resets a stream whose response is invalid.
    private func refuse(_ id: Int32, _ detail: String) {
        fail(id, TransportError(.reset, mayHaveBeenProcessed: true, detail), reset: .protocolError)
    }

    // MARK: Answers

    private func plainSuccess(of stream: BulkStream) -> PlainSuccess {
        stream.run < 0 ? .none : runs[Int(stream.run)]?.plainSuccess ?? .none
    }

    private func succeed(_ id: Int32) {
        guard let stream = close(id, reset: ring[id].isWritten ? nil : .noError) else { return }
        answered(last: stream)
        runs[Int(stream.run)]?.run.succeeded(Int(stream.item))
    }

    private func finish(_ id: Int32) {
        guard let answer = answers[id], answer.hasHead else {
            return refuse(id, "the peer ended an answer before its status")
        }
        // If the response arrived before the whole request body was sent, the rest of the body is not needed.
        guard let stream = close(id, reset: ring[id].isWritten ? nil : .noError) else { return }
        answered(last: stream)
        status.answered(with: answer.status)
        guard stream.run >= 0 else {
            singles.removeValue(forKey: id)?.receiver.finished()
            return
        }
        let run = runs[Int(stream.run)]?.run
        let response = HTTPResponse(HTTPStatus(answer.status), fields: answer.fields, body: .bytes(answer.body))
        if run?.isPlainSuccess(response, of: Int(stream.item)) == true {
            run?.succeeded(Int(stream.item))
        } else {
            run?.answered(Int(stream.item), .success(response), on: number)
        }
    }

    private func takeData(_ head: HTTP2FrameHeader, _ payload: UnsafeRawBufferPointer) {
        guard head.stream > 0, head.stream & 1 == 1, head.stream < nextID,
            let bytes = Self.withoutPadding(head, payload)
        else { return giveUp(.protocolError, "the peer sent a body that belongs to nothing") }
        returnWindow(payload.count)
        guard ring.isOpen(head.stream) else { return }
        guard var answer = answers[head.stream], answer.hasHead else {
            return refuse(head.stream, "the peer sent a body before its status")
        }
        answer.unreturned += payload.count
        if !head.has(Flag.endStream), answer.unreturned > Self.streamWindow / 2 {
            HTTP2FrameWriter.windowUpdate(head.stream, by: answer.unreturned, into: &control)
            answer.unreturned = 0
        }
        let single = singles[head.stream]
        let limit = single.map(\.receiver.bodyLimit) ?? BatchItemReceiver.bodyLimit
        if let excess = answer.meter.count(bytes.count, pieces: head.has(Flag.endStream) ? 0 : 1, limit: limit) {
            return giveUp(.enhanceYourCalm, excess)
        }
        if let single { single.receiver.receivedBody(bytes) } else { answer.body += bytes }
        // If the receiver cancelled the request while it received the body, the stream is closed and nothing remains to
        // be done.
        guard ring.isOpen(head.stream) else { return }
        answers[head.stream] = answer
        if head.has(Flag.endStream) { finish(head.stream) }
    }

    func returnWindow(_ count: Int) {
        unreturned += count
        guard unreturned > Self.connectionWindow / 2 else { return }
        HTTP2FrameWriter.windowUpdate(0, by: unreturned, into: &control)
        unreturned = 0
    }

    /// Returns the payload of a HEADERS or DATA frame without padding and priority; nil if the padding is longer than
    /// the frame.
    private static func withoutPadding(
        _ head: HTTP2FrameHeader, _ payload: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer? {
        var start = 0
        var end = payload.count
        if head.has(Flag.padded) {
            guard let padding = payload.first else { return nil }
            start = 1
            end -= Int(padding)
        }
        if head.kind == Kind.headers, head.has(Flag.priority) { start += 5 }
        return start <= end ? UnsafeRawBufferPointer(rebasing: payload[start..<end]) : nil
    }
}
