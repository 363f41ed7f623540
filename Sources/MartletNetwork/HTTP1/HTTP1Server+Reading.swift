import MartletHTTP

/// Functions that read requests: their heads, bodies and trailers, and the bytes that arrive while a request is being
/// answered.
extension HTTP1Server {
    func receive(_ bytes: UnsafeRawBufferPointer) {
        if phase == .answering || isConsuming || isHeldUp || !backlog.isEmpty {
            keep(bytes)
            consumeBacklog()
        } else {
            consume(bytes)
        }
    }

    private func consume(_ bytes: UnsafeRawBufferPointer) {
        isConsuming = true
        var rest = bytes
        while !rest.isEmpty, phase != .finished, mayConsume, hasRoom(for: rest.count) {
            do throws(HTTP1Refusal) {
                rest = UnsafeRawBufferPointer(rebasing: rest[try take(rest)...])
            } catch {
                refuse(error)
            }
        }
        isConsuming = false
        if phase != .finished, !rest.isEmpty { keep(rest) }
    }

    /// Keeps bytes that cannot be processed yet.
    ///
    /// If more than `backlogBytes` are kept, memory must be reserved for them, as for a body. If no memory is left, the
    /// bytes are dropped. A request whose body waits for memory is then refused with 503; otherwise the connection ends
    /// after the current response.
    private func keep(_ bytes: UnsafeRawBufferPointer) {
        backlog.append(contentsOf: bytes)
        if !holdsEarly(backlog.count) { dropBacklog() }
    }

    /// Reserves memory for `count` bytes that cannot be processed yet. They are the start of a head, or further
    /// requests that arrive while a request is being answered.
    /// - Returns: False if no memory is left.
    private func holdsEarly(_ count: Int) -> Bool {
        guard count > Self.backlogBytes else { return true }
        let lease = backlogLease ?? bodies.lease(.address, headBytes: 0)
        backlogLease = lease
        if lease.hold(count) { return true }
        lease.countRefusal()
        return false
    }

    private func dropBacklog() {
        backlog = []
        if isHeldUp { return refuse(.overloaded) }
        isLastAnswer = true
        if phase == .idle { finish() }
    }

    private var mayConsume: Bool { phase != .answering && !isHeldUp && (phase != .idle || !output.isCongested) }

    /// Reserves memory for `count` more bytes of a collected body. Returns false if the bytes must wait for memory.
    private func hasRoom(for count: Int) -> Bool {
        guard phase == .body, let lease else { return true }
        return lease.cover(max(lease.room, min(body.count + count, bodyLimit)), at: connection.now)
    }

    /// Processes the bytes that arrived while a request was being answered.
    func consumeBacklog() {
        while !isConsuming, phase != .finished, mayConsume, !backlog.isEmpty {
            let waiting = backlog
            backlog = []
            waiting.withUnsafeBytes { consume($0) }
        }
        if backlog.isEmpty, partialHead.isEmpty { backlogLease = nil }
    }

    /// Processes the next bytes according to the phase.
    /// - Returns: The number of consumed bytes, which is more than 0.
    private func take(_ bytes: UnsafeRawBufferPointer) throws(HTTP1Refusal) -> Int {
        switch phase {
        case .body where isGivenUp, .trailers where isGivenUp, .body where isDropping && !mayDropRest: bytes.count
        case .idle, .head: try takeHead(bytes)
        case .body: try takeBody(bytes)
        case .trailers: try takeTrailers(bytes)
        case .answering, .finished: bytes.count
        }
    }

    private func takeHead(_ bytes: UnsafeRawBufferPointer) throws(HTTP1Refusal) -> Int {
        if phase == .idle {
            phase = .head
            due = connection.now + limits.headTime
        }
        switch scanner.scan(bytes) {
        case .refused(let refusal): throw HTTP1Refusal(refusal)
        case .more:
            partialHead.append(contentsOf: bytes)
            guard holdsEarly(partialHead.count) else { throw .overloaded }
            return bytes.count
        case .complete(let count):
            let last = UnsafeRawBufferPointer(rebasing: bytes[..<count])
            if partialHead.isEmpty {
                try parseHead(last)
            } else {
                partialHead.append(contentsOf: last)
                let whole = partialHead
                partialHead = []
                backlogLease = nil
                try whole.withUnsafeBufferPointer { whole throws(HTTP1Refusal) in
                    try parseHead(UnsafeRawBufferPointer(whole))
                }
            }
            return count
        }
    }

    private func parseHead(_ bytes: UnsafeRawBufferPointer) throws(HTTP1Refusal) {
        parser.reset()
        do throws(HTTP1Parser.Failure) {
            try parser.parseHead(bytes)
        } catch {
            throw HTTP1Refusal(error)
        }
        let head = try HTTP1RequestHead(parser, bytes, connection: info)
        self.head = head
        due = connection.now + limits.bodyTime
        let route = dispatch.route(for: head.request)
        self.route = route
        headBytes = bytes.count
        guard head.body != .none else {
            lease = try leaseForHead(route)
            return dispatchRequest()
        }
        if case .length(let length) = head.body { bodyLeft = length }
        guard route.body != .ignored else { return answerOnHead(head, route) }
        bodyLimit = route.bodyLimit
        if case .length(let length) = head.body {
            guard length <= UInt64(max(0, bodyLimit)) else { throw .tooLarge(limit: bodyLimit) }
        }
        phase = .body
        owesContinue = head.expectsContinue
        if route.body == .streamed {
            let streamed = RequestBody(
                self, limit: bodyLimit, length: bodyLeft > 0 ? Int(bodyLeft) : nil, stallTime: limits.stallTime,
                lease: bodies.lease(route.account, headBytes: headBytes))
            self.streamed = streamed
            start(head.request, by: route, body: streamed)
        } else {
            let lease = bodies.lease(route.account, headBytes: headBytes)
            self.lease = lease
            // For an unidentified sender, memory is reserved only for bytes that have arrived, not for the whole
            // Content-Length in advance.
            if lease.cover(lease.isOfKnownCaller ? Int(bodyLeft) : 0, at: connection.now) { bodyHasRoom() }
        }
    }

    /// Reserves memory for a request without a body if its head is long.
    private func leaseForHead(_ route: HTTPRoute) throws(HTTP1Refusal) -> BodyLease? {
        guard headBytes > limits.freeHeadBytes else { return nil }
        let lease = bodies.lease(route.account, headBytes: headBytes)
        guard !lease.hold(0) else { return lease }
        lease.countRefusal()
        throw .overloaded
    }

    /// Prepares for the collected body, once memory is reserved: allocates the memory, and sends 100 Continue if the
    /// client waits for this response.
    func bodyHasRoom() {
        body.reserveCapacity(min(Int(bodyLeft), lease?.room ?? 0))
        sendContinue()
    }

    private func answerOnHead(_ head: HTTP1RequestHead, _ route: HTTPRoute) {
        phase = .body
        isDropping = true
        owesContinue = head.expectsContinue
        start(head.request, by: route, body: nil)
    }

    func sendContinue() {
        guard owesContinue else { return }
        owesContinue = false
        output.appendContinue()
        connection.needsWrite()
    }

    private func takeBody(_ bytes: UnsafeRawBufferPointer) throws(HTTP1Refusal) -> Int {
        let before = body.count
        let (taken, stop) = try parseBody(bytes)
        bodyLeft -= min(bodyLeft, UInt64(body.count - before))
        if isDropping {
            body.removeAll(keepingCapacity: true)
        } else if let streamed {
            body.withUnsafeBytes { streamed.receive($0) }
            body.removeAll(keepingCapacity: true)
        }
        guard isDropping || body.count <= bodyLimit else { throw .tooLarge(limit: bodyLimit) }
        switch stop {
        case .hungry: break
        case .complete: bodyCompleted()
        case .trailers:
            phase = .trailers
            scanner = HeadScanner(scannerLimits, trailers: true)
        }
        return taken
    }

    /// Reads and checks trailers, then drops them (RFC 9112, section 7.1.2).
    private func takeTrailers(_ bytes: UnsafeRawBufferPointer) throws(HTTP1Refusal) -> Int {
        switch scanner.scan(bytes) {
        case .refused(let refusal): throw HTTP1Refusal(refusal)
        case .more:
            _ = try parseBody(bytes)
            return bytes.count
        case .complete(let count):
            _ = try parseBody(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            bodyCompleted()
            return count
        }
    }

    private func parseBody(
        _ bytes: UnsafeRawBufferPointer
    ) throws(HTTP1Refusal) -> (taken: Int, stop: HTTP1Parser.Stop) {
        do throws(HTTP1Parser.Failure) {
            return try parser.parseBody(bytes, into: &body)
        } catch {
            throw HTTP1Refusal(error)
        }
    }

    private func bodyCompleted() {
        if isDropping { return restDropped() }
        guard let streamed else { return dispatchRequest() }
        // If the body has ended with an error, or its reader is gone, the connection ends with the response.
        guard !streamed.isOver else { return }
        phase = .answering
        streamed.complete()
    }

    /// Ends the dropping of a body whose end has arrived, so that the connection can take the next request once the
    /// response has been sent.
    private func restDropped() {
        isDropping = false
        guard stream == nil else {
            phase = .answering
            return
        }
        phase = isDraining ? .finished : .idle
        due = phase == .idle ? connection.now + limits.idleTime : nil
        connection.needsWrite()
    }

    private func dispatchRequest() {
        guard let head, let route else { return }
        var request = head.request
        swap(&request.body, &body)
        request.reservation = lease
        lease = nil
        phase = .answering
        start(request, by: route, body: nil)
    }

    private func start(_ request: HTTPRequest, by route: HTTPRoute, body: RequestBody?) {
        due = nil
        let stream = HTTP1ResponseStream(self)
        self.stream = stream
        var request = request
        request.answerRoom = output.begin()
        let running = dispatch.start(request, by: route, body: body, answerTo: stream)
        if self.stream === stream { self.running = running }
    }
}
