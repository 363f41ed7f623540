import CMartletNGHTTP2

/// What nghttp2 tells the session that drives it, while it reads or writes.
protocol NGHTTP2Events: AnyObject {
    /// A header block begins: a request, a response or trailers.
    func headersBegan(on stream: Int32)

    /// The next field of the block; also one that nghttp2 finds invalid and therefore ignores, which `isValid` says.
    /// - Returns: false to reset the stream.
    func field(
        name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>, isValid: Bool, on stream: Int32
    ) -> Bool

    /// A frame was received whole and found valid.
    func received(_ frame: UnsafePointer<nghttp2_frame>)

    /// A piece of a body.
    func data(_ bytes: UnsafeBufferPointer<UInt8>, on stream: Int32)

    /// A frame was handed to the output.
    func sent(_ frame: UnsafePointer<nghttp2_frame>)

    /// A stream has ended; `code` is NO_ERROR where it ended well.
    func closed(stream: Int32, code: UInt32)

    /// The next piece of a body to send.
    func readBody(of stream: Int32, into buffer: UnsafeMutableRawBufferPointer) -> NGHTTP2Body
}

/// What a body to send has to offer.
enum NGHTTP2Body {
    case bytes(Int, isLast: Bool)
    /// Nothing now: `NGHTTP2Session.resumeBody(of:)` asks again.
    case later
}
