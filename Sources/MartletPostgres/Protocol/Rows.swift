import CMartletPQ
import Glibc
import MartletCore
import MartletModel

/// The rows that a statement returned. Values are read from libpq's memory: reading a number allocates nothing, and
/// reading a text allocates only the text.
///
/// Unchecked: libpq does not change a result after it was made, and only `deinit` frees it.
final class Rows: @unchecked Sendable {
    private let result: OpaquePointer
    let count: Int

    /// Creates the rows, which from now on own the result of libpq.
    init(_ result: OpaquePointer) {
        self.result = result
        count = Int(PQntuples(result))
    }

    deinit {
        PQclear(result)
    }

    var columnCount: Int { Int(PQnfields(result)) }

    /// The number of rows that an INSERT, UPDATE or DELETE has written.
    var changes: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    subscript(index: Int) -> Row { Row(rows: self, index: Int32(index)) }

    func isNull(_ row: Int32, _ column: Int32) -> Bool { PQgetisnull(result, row, column) != 0 }

    /// The bytes of a value. They are valid as long as the rows exist.
    func bytes(_ row: Int32, _ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
    }
}

/// A row of a result.
struct Row {
    fileprivate let rows: Rows
    fileprivate let index: Int32

    func isNull(_ column: Int32) -> Bool { rows.isNull(index, column) }
    func bool(_ column: Int32) -> Bool { value(column).first == 1 }
    func integer(_ column: Int32) -> Int64 { value(column).bigEndian(at: 0) }
    func integer32(_ column: Int32) -> Int32 { value(column).bigEndian(at: 0) }
    func timestamp(_ column: Int32) -> Timestamp { Timestamp(milliseconds: integer(column)) }
    func text(_ column: Int32) -> String { String(decoding: value(column), as: UTF8.self) }
    func bytes(_ column: Int32) -> [UInt8] { Array(value(column)) }

    func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }
    func optionalTimestamp(_ column: Int32) -> Timestamp? { isNull(column) ? nil : timestamp(column) }
    func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
    func optionalBytes(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : bytes(column) }

    /// The elements of an array of eight-byte integers; empty for NULL.
    func integers(_ column: Int32) -> [Int64] {
        let elements = ArrayElements(value(column))
        return elements.map { $0.bigEndian(at: 0) }
    }

    /// The elements of an array of texts; empty for NULL.
    func texts(_ column: Int32) -> [String] {
        ArrayElements(value(column)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Calls `read` with the bytes of a value.
    func withBytes<Value, Failure: Error>(
        _ column: Int32, _ read: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        defer { withExtendedLifetime(rows) {} }
        return try read(value(column))
    }

    private func value(_ column: Int32) -> UnsafeRawBufferPointer { rows.bytes(index, column) }
}

/// The elements of an array without NULLs, in the binary format of the protocol.
struct ArrayElements: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 20
    private var left: Int

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        left = bytes.count < 20 ? 0 : Int(bytes.bigEndian(at: 12) as Int32)
    }

    mutating func next() -> UnsafeRawBufferPointer? {
        guard left > 0 else { return nil }
        left -= 1
        let length = Int(Swift.max(0, bytes.bigEndian(at: offset) as Int32))
        defer { offset += 4 + length }
        return UnsafeRawBufferPointer(rebasing: bytes[(offset + 4)..<(offset + 4 + length)])
    }
}

extension UnsafeRawBufferPointer {
    /// Reads a big-endian number.
    /// - Parameter offset: The offset in bytes of the number.
    func bigEndian<Value: FixedWidthInteger>(at offset: Int) -> Value {
        precondition(offset + MemoryLayout<Value>.size <= count, "A value is shorter than its type.")
        return Value(bigEndian: loadUnaligned(fromByteOffset: offset, as: Value.self))
    }
}
