import CMartletNGHTTP2
import MartletHTTP

@testable import MartletNetwork

/// How frames become answers.
extension HTTP2ClientSession: NGHTTP2Events {
    func headersBegan(on stream: Int32) {}

    func field(
        name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>, isValid: Bool, on stream: Int32
    ) -> Bool {
        streams[stream]?.append(name: name, value: value, isValid: isValid) ?? true
    }

    func received(_ frame: UnsafePointer<nghttp2_frame>) {
        let head = frame.pointee.hd
        switch head.type {
        case HTTP2FrameHeader.Kind.headers:
            if streams[head.stream_id]?.hasHead == false, let response = streams[head.stream_id]?.finishHead() {
                streams[head.stream_id]?.receiver.receivedHead(response)
            }
            complete(head)
        case HTTP2FrameHeader.Kind.data: complete(head)
        case HTTP2FrameHeader.Kind.settings:
            guard head.flags & HTTP2FrameHeader.Flag.acknowledgement == 0 else { return }
            limit.announce(nghttp2.peerSetting(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
        case HTTP2FrameHeader.Kind.goAway: received(frame.pointee.goaway)
        default: break
        }
    }

    private func received(_ frame: nghttp2_goaway) {
        // nghttp2 closes the streams above the last one as refused; those below may still be answered.
        let debugData = UnsafeBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len)
        goAway = HTTP2GoAway(
            lastStream: frame.last_stream_id, code: HTTP2ErrorCode(rawValue: frame.error_code), debugData: debugData)
        stopOpening()
    }

    func data(_ bytes: UnsafeBufferPointer<UInt8>, on stream: Int32) {
        streams[stream]?.receiver.receivedBody(UnsafeRawBufferPointer(bytes))
        nghttp2.consume(bytes.count, of: stream)
    }

    private func complete(_ head: nghttp2_frame_hd) {
        guard head.flags & HTTP2FrameHeader.Flag.endStream != 0,
            let stream = streams.removeValue(forKey: head.stream_id)
        else { return }
        limit.answered()
        answerCount += 1
        lastAnswered = stream
        status.answered(1)
        status.answered(with: stream.status)
        // An answer before the end of the request's body makes the rest of it useless.
        if stream.output.count > 0 { nghttp2.reset(head.stream_id, code: HTTP2ErrorCode.noError.rawValue) }
        stream.receiver.finished()
    }

    func closed(stream id: Int32, code: UInt32) {
        openStreams -= 1
        guard let stream = streams.removeValue(forKey: id) else { return }
        let code = HTTP2ErrorCode(rawValue: code)
        guard code == .refusedStream else {
            return stream.receiver.failed(
                TransportError(
                    .reset, mayHaveBeenProcessed: true, "the peer reset the request with code \(code.rawValue)"))
        }
        if goAway == nil { limit.refused(open: openStreams, at: now) }
        let detail = goAway?.description ?? "the peer refused the request"
        stream.receiver.failed(
            TransportError(goAway == nil ? .reset : .disconnected, mayHaveBeenProcessed: false, detail))
    }

    func sent(_ frame: UnsafePointer<nghttp2_frame>) {}

    func readBody(of stream: Int32, into buffer: UnsafeMutableRawBufferPointer) -> NGHTTP2Body {
        streams[stream]?.output.read(into: buffer) ?? .later
    }
}
