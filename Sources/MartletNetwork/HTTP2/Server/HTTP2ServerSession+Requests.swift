import CMartletNGHTTP2
import MartletHTTP

/// Functions that receive requests.
extension HTTP2ServerSession: NGHTTP2Events {
    /// The maximum length of a body that may still arrive after its response. Such a body is not reset, because a
    /// client may treat a reset as a failure of the request, although RFC 9113, section 8.1, forbids that.
    private static let droppedBytes = 32 * 1024

    func headersBegan(on stream: Int32) {
        guard streams[stream] == nil else { return }
        began(HTTP2ServerStream(id: stream, session: self, limits: limits, deadline: now + limits.headTime))
    }

    func field(
        name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>, isValid: Bool, on stream: Int32
    ) -> Bool {
        // Trailer fields are not kept, but they are counted.
        streams[stream]?.collector.append(name: name, value: value, isValid: isValid) ?? true
    }

    func received(_ frame: UnsafePointer<nghttp2_frame>) {
        let head = frame.pointee.hd
        switch head.type {
        case HTTP2FrameHeader.Kind.headers:
            let indexing = tap.takeIndexing(on: head.stream_id)
            guard let stream = streams[head.stream_id] else { return }
            let isLast = head.flags & HTTP2FrameHeader.Flag.endStream != 0
            if stream.phase == .head { headCompleted(stream, indexing: indexing, isLast: isLast) }
            if isLast { requestCompleted(stream) }
        case HTTP2FrameHeader.Kind.data:
            guard head.flags & HTTP2FrameHeader.Flag.endStream != 0, let stream = streams[head.stream_id] else {
                return
            }
            requestCompleted(stream)
        case HTTP2FrameHeader.Kind.ping:
            if head.flags & HTTP2FrameHeader.Flag.acknowledgement != 0 { drainNoticed() }
        default: break
        }
    }

    private func headCompleted(_ stream: HTTP2ServerStream, indexing: [HTTPField.Indexing], isLast: Bool) {
        stream.phase = .body
        stream.deadline = now + limits.bodyTime
        if let refusal = stream.collector.finishHead(indexing: indexing) {
            return refuse(stream, with: refusal.status)
        }
        let head = stream.collector.request(on: requestConnection, stream: stream.id)
        stream.isHead = head.method == .head
        let route = dispatch.route(for: head)
        stream.route = route
        guard !isLast else { return leaseForHead(of: stream, route) }
        guard route.body != .ignored else { return answerOnHead(head, by: route, on: stream) }
        if let refusal = stream.collector.allowBody(of: route.bodyLimit) {
            return refuse(stream, with: refusal.status)
        }
        stream.owesContinue = stream.collector.expectsContinue
        let lease = bodies.lease(route.account, headBytes: stream.collector.fieldBytes)
        if route.body == .streamed {
            let input = RequestBody(
                stream, limit: route.bodyLimit, length: stream.collector.length, stallTime: limits.stallTime,
                lease: lease)
            stream.input = input
            start(head, by: route, body: input, on: stream)
        } else {
            stream.lease = lease
            // For an unidentified sender, memory is reserved only for bytes that have arrived, not for the announced
            // length in advance.
            let announced = lease.isOfKnownCaller ? stream.collector.length ?? 0 : 0
            if lease.cover(announced, at: now) { bodyHasRoom(stream) } else { bodyIsHeldUp() }
        }
    }

    /// Reserves memory for a request without a body if its head is long.
    private func leaseForHead(of stream: HTTP2ServerStream, _ route: HTTPRoute) {
        guard stream.collector.fieldBytes > limits.freeHeadBytes else { return }
        let lease = bodies.lease(route.account, headBytes: stream.collector.fieldBytes)
        stream.lease = lease
        if !lease.hold(0) { refuseBody(of: stream) }
    }

    private func bodyHasRoom(_ stream: HTTP2ServerStream) {
        stream.collector.reserve(min(stream.collector.length ?? 0, stream.lease?.room ?? 0))
        takeUp(stream)
        sendContinue(on: stream)
    }

    /// Tries again to reserve the memory for which a collected body waits.
    func retryBody(of stream: HTTP2ServerStream) {
        switch stream.lease?.retry(at: now) {
        case .granted?: bodyHasRoom(stream)
        case .waiting?: bodyIsHeldUp()
        case .refused?: refuseBody(of: stream)
        case nil: break
        }
    }

    private func refuseBody(of stream: HTTP2ServerStream) {
        stream.lease?.countRefusal()
        refuse(stream, with: HTTP2RequestCollector.Refusal.overloaded.status)
    }

    private func answerOnHead(_ head: HTTPRequest, by route: HTTPRoute, on stream: HTTP2ServerStream) {
        stream.phase = .answering
        stream.mayDropRest = stream.collector.isShortBody(upTo: Self.droppedBytes)
        start(head, by: route, body: nil, on: stream)
    }

    /// Sends 100 Continue to a peer that waits for it before sending the body.
    func sendContinue(on stream: HTTP2ServerStream) {
        guard stream.owesContinue else { return }
        stream.owesContinue = false
        var fields = NGHTTP2FieldList()
        fields.append(":status", "100")
        nghttp2.submitInformational(fields, on: stream.id)
        needsWrite()
    }

    func data(_ bytes: UnsafeBufferPointer<UInt8>, on stream: Int32) {
        guard let stream = streams[stream], stream.phase == .body else {
            return consumeConnection(bytes.count)
        }
        if let input = stream.input {
            guard !input.isOver else { return consumeConnection(bytes.count) }
            // If these bytes make the body too long, the body is dropped. All its unread bytes then count as consumed.
            return input.receive(UnsafeRawBufferPointer(bytes))
        }
        if let refusal = stream.collector.append(body: bytes) {
            consumeConnection(bytes.count)
            return refuse(stream, with: refusal.status)
        }
        keep(bytes.count, of: stream)
    }

    /// Opens the windows by the number of received bytes if memory can be reserved for these bytes. If not, the body
    /// waits for memory, or its request is refused.
    private func keep(_ count: Int, of stream: HTTP2ServerStream) {
        let held = stream.collector.bodyCount
        guard let lease = stream.lease else { return consume(count, of: stream) }
        if !lease.isWaiting, lease.cover(max(held, lease.room), at: now) { return consume(count, of: stream) }
        guard lease.hold(held) else {
            consumeConnection(count)
            return refuseBody(of: stream)
        }
        putOff(count, of: stream)
        bodyIsHeldUp()
    }

    private func requestCompleted(_ stream: HTTP2ServerStream) {
        guard stream.phase == .body else { return }
        stream.phase = .answering
        if let input = stream.input { return input.complete() }
        guard let route = stream.route else { return }
        var request = stream.collector.request(on: requestConnection, stream: stream.id)
        request.reservation = stream.lease
        stream.lease = nil
        start(request, by: route, body: nil, on: stream)
    }

    private func start(_ request: HTTPRequest, by route: HTTPRoute, body: RequestBody?, on stream: HTTP2ServerStream) {
        stream.deadline = nil
        stream.route = nil
        if body == nil { stream.collector = .spent(limits: limits) }
        let room = AnswerLease(bodies)
        stream.answer = room
        var request = request
        request.answerRoom = room
        let running = dispatch.start(request, by: route, body: body, answerTo: stream)
        if stream.phase != .gone, !stream.isAnswered { stream.running = running }
    }

    func closed(stream: Int32, code: UInt32) {
        guard let stream = streams[stream] else { return }
        consumeConnection(stream.withheld)
        forget(stream)
    }

    /// Sends the final GOAWAY of a drain, because the peer has answered the PING that followed the shutdown notice.
    ///
    /// All requests that the peer sent before it saw the notice have arrived by now.
    private func drainNoticed() {
        guard drainPhase == .noticed else { return }
        drainPhase = .final
        nghttp2.submitGoAway(last: nghttp2.lastProcessedStream, code: HTTP2ErrorCode.noError.rawValue)
    }
}
