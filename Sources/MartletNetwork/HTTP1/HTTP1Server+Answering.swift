import MartletHTTP

/// Functions that answer a request.
///
/// `HTTP1ResponseStream` calls them for the handler.
extension HTTP1Server {
    /// Sends a complete response. Does nothing if no request is waiting for a response.
    func answer(_ response: HTTPResponse) {
        guard isAnswering else { return }
        let response = HTTP1ResponseEncoder.isWritable(response) ? response : HTTPResponse(.internalServerError)
        let bytes = response.bytes
        let isBodiless = HTTP1ResponseEncoder.isBodiless(response.status)
        appendHead(response, framing: isBodiless ? .none : .length(bytes.count))
        guard !isBodiless, head?.request.method != .head else { return completeAnswer() }
        // A long body is sent in pieces only if the whole request has arrived. Otherwise it would be unclear whether
        // bytes that arrive in the meantime belong to this request or to the next.
        if phase == .answering, bytes.count > limits.streamBufferBytes {
            running = nil
            output.keepRest(bytes, isShared: response.isShared)
            return sendRest()
        }
        output.appendBody(bytes)
        completeAnswer()
    }

    /// Sends the next part of a long response.
    func sendRest() {
        switch output.moveRest() {
        case .none: break
        case .waits: connection.needsWrite()
        case .done: completeAnswer()
        }
    }

    /// Sends the head of a response whose body is streamed.
    func beginAnswer(_ response: HTTPResponse) {
        guard isAnswering else { return }
        let isWritable = HTTP1ResponseEncoder.isWritable(response)
        let response = isWritable ? response : HTTPResponse(.internalServerError)
        let framing: HTTP1ResponseEncoder.Framing
        if !isWritable || HTTP1ResponseEncoder.isBodiless(response.status) {
            framing = .none
        } else if case .stream(let length?, _) = response.body {
            framing = .length(length)
        } else {
            framing = head?.minorVersion == 0 ? .untilClose : .chunked
        }
        if framing == .untilClose { isLastAnswer = true }
        isStreaming = true
        appendHead(response, framing: framing == .none && !isWritable ? .length(0) : framing)
        output.stream(head?.request.method == .head ? .none : framing)
        connection.needsWrite()
    }

    /// Sends the next bytes of a streamed body.
    /// - Returns: True if more bytes may follow at once; false if they must wait until the peer has read some of the
    ///   output.
    func continueAnswer(_ bytes: [UInt8]) -> Bool {
        guard isAnswering, !bytes.isEmpty else { return true }
        connection.needsWrite()
        return output.appendPart(bytes)
    }

    func endAnswer() {
        guard isAnswering else { return }
        output.appendEnd()
        completeAnswer()
    }

    func cutAnswer() {
        guard isAnswering else { return }
        isLastAnswer = true
        completeAnswer()
    }

    /// Sends the head of the response and switches the connection to a WebSocket.
    func openWebSocket(_ response: HTTPResponse) -> WebSocketSession? {
        guard phase == .answering, let head else { return nil }
        guard let accept = WebSocketHandshake.accept(head.request), !isDraining else {
            answer(WebSocketHandshake.upgradeRequired)
            return nil
        }
        output.append(response, webSocket: accept)
        let session = WebSocketSession(connection, limits: limits, head: output.queue)
        // This session forgets the handler, so that the handler is not cancelled when the session ends.
        running = nil
        let unread = backlog
        backlog = []
        connection.become(session, unread: unread)
        return session
    }

    private func appendHead(_ response: HTTPResponse, framing: HTTP1ResponseEncoder.Framing) {
        // The connection closes after this response if the body of the request is not read to its end, because the
        // start of the next request could not be found.
        if isDraining || leavesBody || head?.keepsAlive != true { isLastAnswer = true }
        owesContinue = false
        let keepAlive = head?.minorVersion == 0 ? "keep-alive" : nil
        output.appendHead(response, framing: framing, connection: isLastAnswer ? "close" : keepAlive)
    }

    func completeAnswer() {
        if leavesBody { isLastAnswer = true }
        let isUnread = phase == .body || phase == .trailers
        stream?.detach()
        stream = nil
        running = nil
        output.endAnswer()
        quietSince = connection.now
        head = nil
        route = nil
        let unread = streamed
        streamed = nil
        owesContinue = false
        isStreaming = false
        scanner = HeadScanner(scannerLimits)
        // If `drain` was called after the head was written, the connection still closes after the body.
        phase = isLastAnswer || isDraining ? .finished : isUnread ? .body : .idle
        isDropping = phase == .body
        due = phase == .finished ? nil : connection.now + (isDropping ? limits.stallTime : limits.idleTime)
        unread?.fail(.disconnected)
        connection.needsWrite()
        consumeBacklog()
    }

    func refuse(_ refusal: HTTP1Refusal) {
        // A handler that reads the body already has the request and answers it. Therefore no refusal is sent here; the
        // body fails.
        if isReadingStream { return streamed?.fail(.malformed) ?? () }
        body = []
        lease = nil
        backlogLease = nil
        partialHead = []
        let bytes = refusal.response.bytes
        output.appendHead(refusal.response, framing: .length(bytes.count), connection: "close")
        output.appendBody(bytes)
        finish()
    }
}
