import CMartletNGHTTP2

/// Receives the events that nghttp2 reports while it reads or writes.
protocol NGHTTP2Events: AnyObject {
    /// Called at the beginning of the header block of a request, a response or trailers.
    func headersBegan(on stream: Int32)

    /// Called for each field of the block. `isValid` is false for a field that nghttp2 considers invalid and ignores.
    /// - Returns: False to reset the stream.
    func field(
        name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>, isValid: Bool, on stream: Int32
    ) -> Bool

    /// Called when a complete, valid frame has been received.
    func received(_ frame: UnsafePointer<nghttp2_frame>)

    /// Called when a piece of a body has been received.
    func data(_ bytes: UnsafeBufferPointer<UInt8>, on stream: Int32)

    /// Called when a frame has been written to the output.
    func sent(_ frame: UnsafePointer<nghttp2_frame>)

    /// Called when a stream has closed. `code` is NO_ERROR if the stream closed normally.
    func closed(stream: Int32, code: UInt32)

    /// Called when nghttp2 can send more of a body. Copies the next piece of the body into the buffer.
    func readBody(of stream: Int32, into buffer: UnsafeMutableRawBufferPointer) -> NGHTTP2Body
}

/// The result of reading the next piece of a body.
enum NGHTTP2Body {
    case bytes(Int, isLast: Bool)
    /// No bytes are available yet.
    ///
    /// `NGHTTP2Session.resumeBody(of:)` must be called when bytes are available.
    case later
}
