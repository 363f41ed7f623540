import CMartletNGHTTP2

/// The events that nghttp2 reports while it reads or writes.
protocol NGHTTP2Events: AnyObject {
    /// A header block begins: a request, a response or trailers.
    func headersBegan(on stream: Int32)

    /// A field of the block. Also called for a field that nghttp2 finds invalid and ignores; `isValid` is false then.
    /// - Returns: False to reset the stream.
    func field(
        name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>, isValid: Bool, on stream: Int32
    ) -> Bool

    /// A complete, valid frame was received.
    func received(_ frame: UnsafePointer<nghttp2_frame>)

    /// A piece of a body was received.
    func data(_ bytes: UnsafeBufferPointer<UInt8>, on stream: Int32)

    /// A frame was written to the output.
    func sent(_ frame: UnsafePointer<nghttp2_frame>)

    /// A stream has closed; `code` is NO_ERROR if it closed normally.
    func closed(stream: Int32, code: UInt32)

    /// Provides the next piece of a body to send.
    func readBody(of stream: Int32, into buffer: UnsafeMutableRawBufferPointer) -> NGHTTP2Body
}

/// The result of reading the next piece of a body.
enum NGHTTP2Body {
    case bytes(Int, isLast: Bool)
    /// No bytes now: call `NGHTTP2Session.resumeBody(of:)` when there are some.
    case later
}
