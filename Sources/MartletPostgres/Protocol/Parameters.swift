import MartletModel

/// The values of a statement's parameters in the binary format of the protocol, one after another in one buffer.
struct Parameters: Sendable {
    private(set) var bytes: [UInt8] = []
    /// The range of each value in the buffer; nil for NULL.
    private(set) var spans: [Range<Int>?] = []

    mutating func add(_ value: Bool?) { add(value) { $1.append($0 ? 1 : 0) } }
    mutating func add(_ value: Int32?) { add(value) { $1.append(bigEndian: $0) } }
    mutating func add(_ value: Int64?) { add(value) { $1.append(bigEndian: $0) } }
    mutating func add(_ value: Timestamp?) { add(value?.milliseconds) }
    mutating func add(_ value: String?) { add(value) { $1.append(contentsOf: $0.utf8) } }
    mutating func add(_ value: [UInt8]?) { add(value) { $1.append(contentsOf: $0) } }

    mutating func add(_ values: [Bool]) { add(array: values, of: .bool) { $1.append($0 ? 1 : 0) } }
    mutating func add(_ values: [Int32?]) { add(array: values, of: .int4) { $1.append(bigEndian: $0) } }
    mutating func add(_ values: [Int64?]) { add(array: values, of: .int8) { $1.append(bigEndian: $0) } }
    mutating func add(_ values: [String?]) { add(array: values, of: .text) { $1.append(contentsOf: $0.utf8) } }
    mutating func add(_ values: [[UInt8]?]) { add(array: values, of: .bytes) { $1.append(contentsOf: $0) } }

    mutating func addNull() { spans.append(nil) }

    /// Calls `body` with the values as libpq takes them: a pointer to each value (a null pointer for NULL), the lengths
    /// in bytes, and the formats, which are all binary. The pointers are valid during the call.
    func withValues<Result>(_ body: ([UnsafePointer<CChar>?], [Int32], [Int32]) -> Result) -> Result {
        bytes.withUnsafeBytes { bytes in
            let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) ?? Self.empty
            let values = spans.map { span in span.map { UnsafePointer(start + $0.lowerBound) } }
            return body(values, spans.map { Int32($0?.count ?? 0) }, [Int32](repeating: 1, count: values.count))
        }
    }

    // Allocated once, never written, read or freed, so threads may share the address without a lock.
    /// The address that is passed to libpq for an empty value, because a null pointer would mean NULL.
    private nonisolated(unsafe) static let empty = UnsafePointer(UnsafeMutablePointer<CChar>.allocate(capacity: 1))

    private mutating func add<Value>(_ value: Value?, _ write: (Value, inout [UInt8]) -> Void) {
        guard let value else { return spans.append(nil) }
        let start = bytes.count
        write(value, &bytes)
        spans.append(start..<bytes.count)
    }

    /// Adds a one-dimensional array: the number of dimensions, whether there may be a NULL, the type of the elements,
    /// their number, the index of the first element, and then each element, preceded by its length.
    private mutating func add<Value>(
        array values: [Value?], of type: ParameterType, _ write: (Value, inout [UInt8]) -> Void
    ) {
        let start = bytes.count
        bytes.append(bigEndian: Int32(values.isEmpty ? 0 : 1))
        bytes.append(bigEndian: Int32(1))
        bytes.append(bigEndian: Int32(bitPattern: type.rawValue))
        if !values.isEmpty {
            bytes.append(bigEndian: Int32(values.count))
            bytes.append(bigEndian: Int32(1))
        }
        for value in values {
            guard let value else {
                bytes.append(bigEndian: Int32(-1))
                continue
            }
            let length = bytes.count
            bytes.append(bigEndian: Int32(0))
            write(value, &bytes)
            bytes.replace(at: length, bigEndian: Int32(bytes.count - length - 4))
        }
        spans.append(start..<bytes.count)
    }
}

extension [UInt8] {
    mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    fileprivate mutating func replace(at index: Int, bigEndian value: Int32) {
        Swift.withUnsafeBytes(of: value.bigEndian) { bytes in
            for (offset, byte) in bytes.enumerated() { self[index + offset] = byte }
        }
    }
}
