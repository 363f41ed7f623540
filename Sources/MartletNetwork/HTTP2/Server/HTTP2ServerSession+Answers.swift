import CMartletNGHTTP2
import MartletHTTP

/// Functions that send responses.
extension HTTP2ServerSession {
    /// The number of response bytes that must be sent within `ServerLimits.stallTime`. Without this minimum, a peer
    /// that opens its window byte by byte could keep a response in memory indefinitely.
    private static let leastProgress = 16 * 1024

    func send(_ response: HTTPResponse, on stream: HTTP2ServerStream) {
        catchUp()
        guard stream.phase != .gone, !stream.isAnswered else { return }
        stream.output = HTTP2BodyBuffer(stream.isHead ? [] : response.bytes, isShared: response.isShared)
        stream.answer?.hold(stream.output.memory)
        stream.isAnswered = true
        stream.owesContinue = false
        stream.running = nil
        let hasBody = !stream.isHead && !response.bytes.isEmpty
        if hasBody { stream.beginsToWait(until: now + limits.stallTime) }
        let length = response.status.forbidsLength ? nil : response.bytes.count
        nghttp2.submitResponse(fields(of: response, length: length), hasBody: hasBody, on: stream.id)
        needsWrite()
    }

    func sendHead(_ response: HTTPResponse, on stream: HTTP2ServerStream) {
        catchUp()
        guard stream.phase != .gone, !stream.isAnswered else { return }
        stream.owesContinue = false
        var length: Int?
        if case .stream(let stated, _) = response.body { length = stated }
        nghttp2.submitResponse(fields(of: response, length: length), hasBody: !stream.isHead, on: stream.id)
        stream.isAnswered = stream.isHead
        needsWrite()
    }

    func sendBody(_ bytes: [UInt8], on stream: HTTP2ServerStream) -> Bool {
        guard stream.phase != .gone, !stream.isAnswered else { return false }
        guard !bytes.isEmpty else { return true }
        catchUp()
        if stream.output.count == 0 { stream.beginsToWait(until: now + limits.stallTime) }
        stream.output.append(bytes)
        stream.answer?.hold(stream.output.memory)
        nghttp2.resumeBody(of: stream.id)
        needsWrite()
        stream.isFull = stream.output.count >= limits.streamBufferBytes
        return !stream.isFull
    }

    func finish(_ stream: HTTP2ServerStream) {
        guard stream.phase != .gone, !stream.isAnswered else { return }
        stream.isAnswered = true
        stream.running = nil
        stream.output.complete()
        nghttp2.resumeBody(of: stream.id)
        needsWrite()
    }

    func cut(_ stream: HTTP2ServerStream) {
        guard stream.phase != .gone else { return }
        stream.isAnswered = true
        reset(stream, .internalError)
        needsWrite()
    }

    /// Refuses a request without calling its handler, and drops the rest of the request.
    func refuse(_ stream: HTTP2ServerStream, with status: HTTPStatus) {
        stream.phase = .refused
        stream.deadline = now + limits.stallTime
        stream.lease = nil
        stream.collector = .spent(limits: limits)
        var response = HTTPResponse(status)
        if status == .serviceUnavailable { response.fields["retry-after"] = String(BodyLimits.retryAfter) }
        send(response, on: stream)
    }

    private func fields(of response: HTTPResponse, length: Int?) -> NGHTTP2FieldList {
        var list = NGHTTP2FieldList()
        list.append(":status", String(response.status.code))
        // A handler that answers HEAD may state the length of the body that is not sent, so its `content-length` is
        // kept if the body is empty.
        let stated = response.fields["content-length"]
        list.append(response.fields, besides: "content-length")
        if let length { list.append("content-length", length == 0 ? stated ?? "0" : String(length)) }
        return list
    }

    // MARK: Sending

    func readBody(of stream: Int32, into buffer: UnsafeMutableRawBufferPointer) -> NGHTTP2Body {
        guard let stream = streams[stream] else { return .later }
        let body = stream.output.read(into: buffer)
        if case .bytes(let count, _) = body {
            stream.movedBytes += count
            if count > 0 { moved() }
            stream.answer?.hold(stream.output.memory)
        }
        if stream.output.count == 0 {
            stream.deadline = nil
        } else if stream.movedBytes >= Self.leastProgress {
            stream.beginsToWait(until: now + limits.stallTime)
        }
        if stream.isFull, stream.output.count < limits.streamBufferBytes / 2 {
            stream.isFull = false
            stream.running?.roomAppeared()
        }
        return body
    }

    func sent(_ frame: UnsafePointer<nghttp2_frame>) {
        let head = frame.pointee.hd
        switch head.type {
        case HTTP2FrameHeader.Kind.reset:
            return countReset()
        case HTTP2FrameHeader.Kind.data: countData()
        case HTTP2FrameHeader.Kind.headers: break
        default: return
        }
        // If the response is complete but the request is not, the peer is told to stop sending (RFC 9113, section 8.1).
        guard head.flags & HTTP2FrameHeader.Flag.endStream != 0, !nghttp2.isRemoteClosed(head.stream_id) else { return }
        if let stream = streams[head.stream_id], stream.mayDropRest {
            return stream.beginsToWait(until: now + limits.stallTime)
        }
        nghttp2.reset(head.stream_id, code: HTTP2ErrorCode.noError.rawValue)
    }
}

extension HTTPStatus {
    /// True if a response with this status is sent without `content-length`. RFC 9110, section 8.6, forbids the field
    /// for 1xx and 204. A 304 has no body, so its length is not stated either.
    fileprivate var forbidsLength: Bool { code < 200 || code == 204 || code == 304 }
}
