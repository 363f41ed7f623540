import CMartletSQLite
import MartletModel

/// A handle, or its key, in the format of its column. An even number of lower-case hexadecimal digits is stored as
/// bytes, which halves the size of a token; any other text is stored unchanged.
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

    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .packed(let bytes): bytes.bind(to: statement, at: index)
        case .text(let text): text.bind(to: statement, at: index)
        }
    }

    /// Writes two hexadecimal digits for each byte. Converts four bytes at a time for speed, because every push needs a
    /// handle.
    static func unpack(_ bytes: UnsafeBufferPointer<UInt8>, into digits: UnsafeMutableBufferPointer<UInt8>) {
        let (input, output) = (UnsafeRawBufferPointer(bytes), UnsafeMutableRawBufferPointer(digits))
        var index = 0
        while index + 4 <= bytes.count {
            let four = UInt32(littleEndian: input.loadUnaligned(fromByteOffset: index, as: UInt32.self))
            output.storeBytes(of: Self.digits(of: four).littleEndian, toByteOffset: index * 2, as: UInt64.self)
            index += 4
        }
        while index < bytes.count {
            digits[index * 2] = digit(bytes[index] >> 4)
            digits[index * 2 + 1] = digit(bytes[index] & 15)
            index += 1
        }
    }

    /// Returns the eight hexadecimal digits, one per byte, of a word of four bytes.
    private static func digits(of four: UInt32) -> UInt64 {
        var pairs = UInt64(four)
        pairs = (pairs | pairs << 16) & 0x0000_FFFF_0000_FFFF
        pairs = (pairs | pairs << 8) & 0x00FF_00FF_00FF_00FF
        let values = (pairs >> 4 | pairs << 8) & 0x0F0F_0F0F_0F0F_0F0F
        let areDeadLetters = (values &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return values &+ 0x3030_3030_3030_3030 &+ areDeadLetters &* 0x27
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static func pack(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { digits in
            guard digits.count > 0, digits.count % 2 == 0 else { return nil }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(digits.count / 2)
            for index in stride(from: 0, to: digits.count, by: 2) {
                guard let high = value(of: digits[index]), let low = value(of: digits[index + 1]) else { return nil }
                bytes.append(high << 4 | low)
            }
            return bytes
        }
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
