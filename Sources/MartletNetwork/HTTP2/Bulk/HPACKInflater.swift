import CMartletNGHTTP2

/// A decoder of header blocks that wraps nghttp2's HPACK decoder.
final class HPACKInflater {
    private let inflater: OpaquePointer

    init() {
        var inflater: OpaquePointer?
        guard nghttp2_hd_inflate_new(&inflater) == 0, let inflater else {
            preconditionFailure("nghttp2 fails to start only without memory")
        }
        self.inflater = inflater
    }

    deinit {
        nghttp2_hd_inflate_del(inflater)
    }

    /// Sets the maximum size of the dynamic table, in bytes. Must be called when the peer has acknowledged this size.
    func setTableSize(_ size: Int) {
        nghttp2_hd_inflate_change_table_size(inflater, size)
    }

    /// Decodes one complete header block.
    /// - Returns: False if the block is invalid; then no further block can be decoded.
    func decode(
        _ block: UnsafeRawBufferPointer,
        field: (_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Void
    ) -> Bool {
        var index = block.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var left = block.count
        while true {
            var entry = nghttp2_nv()
            var flags: Int32 = 0
            let count = nghttp2_hd_inflate_hd2(inflater, &entry, &flags, index, left, 1)
            guard count >= 0 else { return false }
            index = index.map { $0 + count }
            left -= count
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                field(
                    UnsafeBufferPointer(start: entry.name, count: entry.namelen),
                    UnsafeBufferPointer(start: entry.value, count: entry.valuelen))
            }
            if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 {
                nghttp2_hd_inflate_end_headers(inflater)
                return true
            }
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) == 0, left == 0 { return false }
        }
    }
}
