import CMartletNGHTTP2

/// A Swift wrapper for an nghttp2 client or server session. It handles frames and streams, not requests.
///
/// Events are reported only during calls of `receive` and `write`.
final class NGHTTP2Session {
    enum Role {
        case client
        case server
    }

    private let session: OpaquePointer
    /// The receiver of events, which owns this session and outlives it.
    fileprivate unowned let events: any NGHTTP2Events

    /// Creates a session for one connection.
    /// - Parameter deflateTable: The maximum size of the encoder's table in bytes, whatever the peer allows.
    init(_ role: Role, events: any NGHTTP2Events, deflateTable: Int = 4096) {
        self.events = events
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        var options: OpaquePointer?
        nghttp2_option_new(&options)
        defer {
            nghttp2_session_callbacks_del(callbacks)
            nghttp2_option_del(options)
        }
        // Windows are opened when the received bytes have been consumed, not when they arrive.
        nghttp2_option_set_no_auto_window_update(options, 1)
        nghttp2_option_set_max_deflate_dynamic_table_size(options, deflateTable)
        Self.set(callbacks)
        var session: OpaquePointer?
        let placeholder: UnsafeMutableRawPointer? = nil
        let code =
            switch role {
            case .client: nghttp2_session_client_new2(&session, callbacks, placeholder, options)
            case .server: nghttp2_session_server_new2(&session, callbacks, placeholder, options)
            }
        guard code == 0, let session else { preconditionFailure("nghttp2 fails to start only without memory") }
        self.session = session
        nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        nghttp2_session_del(session)
    }

    private static func set(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, headersBegan)
        nghttp2_session_callbacks_set_on_header_callback(callbacks, fieldReceived)
        nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, invalidFieldReceived)
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frameReceived)
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, dataReceived)
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, frameSent)
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, streamClosed)
    }

    // MARK: Bytes

    /// Passes received bytes to nghttp2.
    /// - Returns: False if the peer violated HTTP/2 in such a way that no GOAWAY can be sent.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let base = bytes.baseAddress else { return true }
        return nghttp2_session_mem_recv(session, base.assumingMemoryBound(to: UInt8.self), bytes.count) >= 0
    }

    /// Appends frames to `output` until `output` has `limit` bytes or no frame is waiting.
    /// - Returns: False if nghttp2 cannot continue.
    func write(into output: inout [UInt8], limit: Int) -> Bool {
        while output.count < limit {
            var piece: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &piece)
            guard count > 0, let piece else { return count == 0 }
            output.append(contentsOf: UnsafeBufferPointer(start: piece, count: count))
        }
        return true
    }

    /// True if nghttp2 has nothing more to read or write.
    var isDone: Bool { nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 }

    /// The number of frames that are waiting to be written. Bodies that are waiting for a flow-control window to open
    /// are not counted.
    var queuedFrames: Int { nghttp2_session_get_outbound_queue_size(session) }

    var wantsWrite: Bool { nghttp2_session_want_write(session) != 0 }

    // MARK: Connection

    func submit(settings: [(id: nghttp2_settings_id, value: UInt32)]) {
        let entries = settings.map {
            nghttp2_settings_entry(settings_id: Int32(bitPattern: $0.id.rawValue), value: $0.value)
        }
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
    }

    func setConnectionWindow(_ bytes: Int32) {
        nghttp2_session_set_local_window_size(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, bytes)
    }

    /// Tells nghttp2 that bytes of a body have been consumed. nghttp2 then opens the windows of the stream and the
    /// connection.
    func consume(_ count: Int, of stream: Int32) {
        nghttp2_session_consume(session, stream, count)
    }

    /// Lets the peer send `count` more bytes on the connection, but not on the stream. Used if the stream is closed or
    /// its body is not needed.
    func consumeConnection(_ count: Int) {
        nghttp2_session_consume_connection(session, count)
    }

    /// Lets the peer send `count` more bytes on a stream. Used if the connection's window was opened earlier.
    func consumeStream(_ count: Int, of stream: Int32) {
        nghttp2_session_consume_stream(session, stream, count)
    }

    func submitPing() {
        nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    }

    func submitGoAway(last stream: Int32, code: UInt32, debugData: [UInt8] = []) {
        nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code, debugData, debugData.count)
    }

    /// Sends GOAWAY with the highest possible stream id: open streams continue, and the peer is asked to open no new
    /// streams (RFC 9113, section 6.8).
    func submitShutdownNotice() {
        nghttp2_submit_shutdown_notice(session)
    }

    /// Sends GOAWAY.
    ///
    /// No input is read after this call.
    func terminate(code: UInt32) {
        nghttp2_session_terminate_session(session, code)
    }

    /// The highest id among the streams that the peer opened and that this session has processed.
    var lastProcessedStream: Int32 { nghttp2_session_get_last_proc_stream_id(session) }

    func peerSetting(_ id: nghttp2_settings_id) -> UInt32 { nghttp2_session_get_remote_settings(session, id) }

    // MARK: Streams

    /// Sends a request.
    /// - Returns: The stream id; nil if no more requests can be sent on this connection.
    func submitRequest(_ fields: NGHTTP2FieldList, hasBody: Bool) -> Int32? {
        var provider = Self.provider
        let stream = fields.withEntries { entries, count in
            withUnsafePointer(to: &provider) {
                nghttp2_submit_request(session, nil, entries, count, hasBody ? $0 : nil, nil)
            }
        }
        return stream > 0 ? stream : nil
    }

    func submitResponse(_ fields: NGHTTP2FieldList, hasBody: Bool, on stream: Int32) {
        var provider = Self.provider
        fields.withEntries { entries, count in
            withUnsafePointer(to: &provider) {
                _ = nghttp2_submit_response(session, stream, entries, count, hasBody ? $0 : nil)
            }
        }
    }

    /// Sends an informational response, such as 100 Continue.
    func submitInformational(_ fields: NGHTTP2FieldList, on stream: Int32) {
        fields.withEntries { entries, count in
            _ = nghttp2_submit_headers(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, nil, entries, count, nil)
        }
    }

    func resumeBody(of stream: Int32) {
        nghttp2_session_resume_data(session, stream)
    }

    func reset(_ stream: Int32, code: UInt32) {
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code)
    }

    /// Returns true if the peer has closed its side of a stream.
    func isRemoteClosed(_ stream: Int32) -> Bool {
        nghttp2_session_get_stream_remote_close(session, stream) != 0
    }

    private static var provider: nghttp2_data_provider {
        nghttp2_data_provider(source: nghttp2_data_source(), read_callback: bodyWanted)
    }
}

// MARK: - Callbacks

private func driver(_ userData: UnsafeMutableRawPointer?) -> any NGHTTP2Events {
    // The user data is never nil: the initialiser sets it to an object that deletes the nghttp2 session in its
    // `deinit`.
    guard let userData else { preconditionFailure("nghttp2 calls back with the user data that it was given") }
    return Unmanaged<NGHTTP2Session>.fromOpaque(userData).takeUnretainedValue().events
}

private func headersBegan(
    _: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, userData: UnsafeMutableRawPointer?
) -> Int32 {
    if let frame { driver(userData).headersBegan(on: frame.pointee.hd.stream_id) }
    return 0
}

private func fieldReceived(
    _: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, name: UnsafePointer<UInt8>?, nameLength: Int,
    value: UnsafePointer<UInt8>?, valueLength: Int, _: UInt8, userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame else { return 0 }
    let isWelcome = driver(userData).field(
        name: UnsafeBufferPointer(start: name, count: nameLength),
        value: UnsafeBufferPointer(start: value, count: valueLength), isValid: true, on: frame.pointee.hd.stream_id)
    return isWelcome ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
}

private func invalidFieldReceived(
    _: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, name: UnsafePointer<UInt8>?, nameLength: Int,
    value: UnsafePointer<UInt8>?, valueLength: Int, _: UInt8, userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame else { return 0 }
    let isWelcome = driver(userData).field(
        name: UnsafeBufferPointer(start: name, count: nameLength),
        value: UnsafeBufferPointer(start: value, count: valueLength), isValid: false, on: frame.pointee.hd.stream_id)
    return isWelcome ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
}

private func frameReceived(
    _: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, userData: UnsafeMutableRawPointer?
) -> Int32 {
    if let frame { driver(userData).received(frame) }
    return 0
}

private func dataReceived(
    _: OpaquePointer?, _: UInt8, stream: Int32, data: UnsafePointer<UInt8>?, count: Int,
    userData: UnsafeMutableRawPointer?
) -> Int32 {
    driver(userData).data(UnsafeBufferPointer(start: data, count: count), on: stream)
    return 0
}

private func frameSent(
    _: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, userData: UnsafeMutableRawPointer?
) -> Int32 {
    if let frame { driver(userData).sent(frame) }
    return 0
}

private func streamClosed(
    _: OpaquePointer?, stream: Int32, code: UInt32, userData: UnsafeMutableRawPointer?
) -> Int32 {
    driver(userData).closed(stream: stream, code: code)
    return 0
}

private func bodyWanted(
    _: OpaquePointer?, stream: Int32, buffer: UnsafeMutablePointer<UInt8>?, length: Int,
    flags: UnsafeMutablePointer<UInt32>?, _: UnsafeMutablePointer<nghttp2_data_source>?,
    userData: UnsafeMutableRawPointer?
) -> Int {
    // The buffer has exactly the size `length`, because nghttp2 closes the session if more bytes are returned.
    let room = UnsafeMutableRawBufferPointer(start: buffer, count: length)
    switch driver(userData).readBody(of: stream, into: room) {
    case .later:
        return Int(NGHTTP2_ERR_DEFERRED.rawValue)
    case .bytes(let count, let isLast):
        if isLast { flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return count
    }
}
