import CMartletSQLite
import MartletModel

/// A handle, or its key, as a column holds it: an even number of lower-case hexadecimal digits as bytes, which halves
/// a token; any other text as it is.
enum StoredHandle: Bindable, Equatable {
    case packed([UInt8])
    case text(String)

    init(_ text: String) {
        self = Self.pack(text).map(StoredHandle.packed) ?? .text(text)
    }

    init(_ row: Statement, _ column: Int32) {
        self = row.isBlob(column) ? .packed(row.bytes(column)) : .text(row.text(column))
    }

    var text: String {
        switch self {
        case .packed(let bytes):
            String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
                bytes.withUnsafeBufferPointer { Self.unpack($0, into: buffer) }
                return bytes.count * 2
            }
        case .text(let text): text
        }
    }

    func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
        switch self {
        case .packed(let bytes): bytes.bind(to: statement, at: place)
        case .text(let text): text.bind(to: statement, at: place)
        }
    }

    /// Writes two digits for each byte.
    static func unpack(_ bytes: UnsafeBufferPointer<UInt8>, into digits: UnsafeMutableBufferPointer<UInt8>) {
        for place in bytes.indices {
            digits[place * 2] = digit(bytes[place] >> 4)
            digits[place * 2 + 1] = digit(bytes[place] & 15)
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static func pack(_ text: String) -> [UInt8]? {
        let count = text.utf8.count
        guard count > 0, count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count / 2)
        var high: UInt8?
        for character in text.utf8 {
            guard let value = value(of: character) else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
