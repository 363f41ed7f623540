/// A value in a row that is moved, in a form that does not depend on the stores. Text is represented by its UTF-8
/// bytes, a Boolean by 0 or 1, and a time by its milliseconds.
public enum MovedValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case bytes([UInt8])
    case list([[UInt8]])
    case numbers([Int64])

    public init(_ text: String?) { self = text.map { .bytes(Array($0.utf8)) } ?? .null }
    public init(_ number: Int64?) { self = number.map(MovedValue.integer) ?? .null }

    public var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
    public var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    public var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }
    public var list: [[UInt8]] { if case .list(let list) = self { list } else { [] } }
    public var numbers: [Int64] { if case .numbers(let numbers) = self { numbers } else { [] } }

    /// Appends the value in an unambiguous form, so that different rows have different bytes.
    func append(to encoded: inout [UInt8]) {
        switch self {
        case .null: encoded.append(0)
        case .integer(let number):
            encoded.append(1)
            encoded.append(bigEndian: number)
        case .bytes(let bytes):
            encoded.append(2)
            encoded.append(counted: bytes)
        case .list(let list):
            encoded.append(3)
            encoded.append(bigEndian: UInt32(list.count))
            for item in list { encoded.append(counted: item) }
        case .numbers(let numbers):
            encoded.append(4)
            encoded.append(bigEndian: UInt32(numbers.count))
            for number in numbers { encoded.append(bigEndian: number) }
        }
    }
}

extension [UInt8] {
    mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }

    mutating func append(counted bytes: some Collection<UInt8>) {
        append(bigEndian: UInt32(bytes.count))
        append(contentsOf: bytes)
    }
}
