import CMartletNGHTTP2
import MartletHTTP

/// Header fields in the form that nghttp2 requires: one buffer, and entries that point into the buffer.
struct NGHTTP2FieldList {
    private struct Entry {
        let nameCount: Int
        let valueCount: Int
        let flags: UInt8
    }

    private var storage: [UInt8] = []
    private var entries: [Entry] = []

    mutating func append(_ name: String, _ value: String, indexing: HTTPField.Indexing = .allowed) {
        let start = storage.count
        storage.append(contentsOf: name.utf8)
        let middle = storage.count
        storage.append(contentsOf: value.utf8)
        entries.append(
            Entry(
                nameCount: middle - start, valueCount: storage.count - middle,
                flags: UInt8(indexing == .never ? NGHTTP2_NV_FLAG_NO_INDEX.rawValue : NGHTTP2_NV_FLAG_NONE.rawValue)))
    }

    /// Adds fields, but omits connection-specific fields (RFC 9113, section 8.2.2), invalid fields and the field named
    /// `besides`.
    mutating func append(_ fields: HTTPFields, besides: String) {
        for field in fields
        where !Self.isConnectionSpecific(field.name) && field.name != besides && FieldRules.isSound(field) {
            append(field.name, field.value, indexing: field.indexing)
        }
    }

    func withEntries<Result>(_ use: (UnsafePointer<nghttp2_nv>?, Int) -> Result) -> Result {
        var storage = storage
        // The pointers need not outlive the call: nghttp2 copies names and values, because its NO_COPY flags are not
        // set.
        return storage.withUnsafeMutableBufferPointer { bytes in
            var index = bytes.baseAddress
            let list = entries.map { entry in
                let name = index
                let value = name.map { $0 + entry.nameCount }
                index = value.map { $0 + entry.valueCount }
                return nghttp2_nv(
                    name: name, value: value, namelen: entry.nameCount, valuelen: entry.valueCount, flags: entry.flags)
            }
            return list.withUnsafeBufferPointer { use($0.baseAddress, $0.count) }
        }
    }

    static func isConnectionSpecific(_ name: String) -> Bool {
        switch name {
        case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "host", "te": true
        default: false
        }
    }
}
