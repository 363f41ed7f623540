import MartletHTTP

/// Functions that handle control frames from the peer.
extension BulkSession {
    private typealias Flag = HTTP2FrameHeader.Flag

    func takeSettings(_ head: HTTP2FrameHeader, _ payload: UnsafeRawBufferPointer) {
        guard head.stream == 0, payload.count % 6 == 0 else {
            return giveUp(.frameSizeError, "the peer sent SETTINGS of a wrong form")
        }
        guard !head.has(Flag.acknowledgement) else {
            // From here on, the peer's header blocks refer to the static table only.
            inflater.setTableSize(0)
            isTableEmpty = true
            return
        }
        var streams: UInt32?
        for index in stride(from: 0, to: payload.count, by: 6) {
            let id = payload.loadUnaligned(fromByteOffset: index, as: UInt16.self).bigEndian
            let value = payload.loadUnaligned(fromByteOffset: index + 2, as: UInt32.self).bigEndian
            switch id {
            case BulkPeerSettings.headerTableSize: table.allow(value)
            case BulkPeerSettings.maxConcurrentStreams: streams = value
            case BulkPeerSettings.initialWindowSize: changeInitialWindow(to: value)
            case BulkPeerSettings.maxFrameSize: changeFrameSize(to: value)
            default: break
            }
        }
        if let streams {
            limit.announce(streams)
            hasAnnouncedStreams = true
        } else if !hasAnnouncedStreams {
            // If the first SETTINGS frame states no limit of streams, the number of streams is unlimited.
            limit.announce(.max)
            hasAnnouncedStreams = true
        }
        HTTP2FrameWriter.settingsAcknowledgement(into: &control)
    }

    private func changeInitialWindow(to value: UInt32) {
        guard value <= UInt32(Int32.max) else {
            return giveUp(.flowControlError, "the peer announced a window that is too large")
        }
        ring.changeWindows(by: Int(value) - peer.initialWindow)
        peer.initialWindow = Int(value)
    }

    private func changeFrameSize(to value: UInt32) {
        guard (16_384..<16_777_216).contains(value) else {
            return giveUp(.protocolError, "the peer announced a frame size that HTTP/2 does not allow")
        }
        // The session sends only frames of at most 16,384 bytes, even if the peer allows larger frames, because a TLS
        // record holds at most 16 KiB.
        peer.maxFrameSize = 16_384
    }

    func takeWindowUpdate(_ head: HTTP2FrameHeader, _ payload: UnsafeRawBufferPointer) {
        guard payload.count == 4 else {
            return giveUp(.frameSizeError, "the peer sent a WINDOW_UPDATE of a wrong form")
        }
        let count = Int(payload.loadUnaligned(as: UInt32.self).bigEndian & 0x7FFF_FFFF)
        if head.stream == 0 {
            window += count
            guard count > 0, window <= Int(Int32.max) else {
                return giveUp(.flowControlError, "the peer opened the connection's window too far")
            }
        } else if ring.isOpen(head.stream) {
            ring[head.stream].window += count
            guard count > 0, ring[head.stream].window <= Int(Int32.max) else {
                return fail(
                    head.stream,
                    TransportError(.reset, mayHaveBeenProcessed: true, "the peer opened a request's window too far"),
                    reset: .flowControlError)
            }
        }
    }

    func takeReset(_ head: HTTP2FrameHeader, _ payload: UnsafeRawBufferPointer) {
        guard payload.count == 4, head.stream > 0, head.stream < nextID else {
            return giveUp(.protocolError, "the peer reset a request that was never sent")
        }
        guard ring.isOpen(head.stream) else { return }
        let code = HTTP2ErrorCode(rawValue: payload.loadUnaligned(as: UInt32.self).bigEndian)
        guard code == .refusedStream else {
            return fail(
                head.stream,
                TransportError(
                    .reset, mayHaveBeenProcessed: true, "the peer reset the request with code \(code.rawValue)"))
        }
        limit.refused(open: ring.count - 1, at: now)
        fail(head.stream, TransportError(.reset, mayHaveBeenProcessed: false, "the peer refused the request"))
    }

    func takeGoAway(_ head: HTTP2FrameHeader, _ payload: UnsafeRawBufferPointer) {
        guard payload.count >= 8, head.stream == 0 else {
            return giveUp(.frameSizeError, "the peer sent a GOAWAY of a wrong form")
        }
        let last = Int32(bitPattern: payload.loadUnaligned(as: UInt32.self).bigEndian & 0x7FFF_FFFF)
        let code = payload.loadUnaligned(fromByteOffset: 4, as: UInt32.self).bigEndian
        let goAway = HTTP2GoAway(
            lastStream: last, code: HTTP2ErrorCode(rawValue: code), debugData: payload.dropFirst(8))
        self.goAway = goAway
        stopOpening()
        let error = TransportError(.disconnected, mayHaveBeenProcessed: false, goAway.description)
        for stream in ring.all where stream.id > last { fail(stream.id, error) }
    }

    func takePing(_ head: HTTP2FrameHeader, _ payload: UnsafeRawBufferPointer) {
        guard payload.count == 8, head.stream == 0 else {
            return giveUp(.frameSizeError, "the peer sent a PING of a wrong form")
        }
        guard !head.has(Flag.acknowledgement) else { return }
        HTTP2FrameWriter.ping(payload, isAnswer: true, into: &control)
    }
}
