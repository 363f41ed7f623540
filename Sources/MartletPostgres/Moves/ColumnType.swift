import MartletCore

/// The type of a column. The raw value is the type's number in PostgreSQL's catalog.
enum ColumnType: Int32 {
    case bool = 16
    case bytes = 17
    case int8 = 20
    case int4 = 23
    case text = 25
    case bytesArray = 1001
    case texts = 1009
    case int8s = 1016

    /// Returns the SQL expression that converts a column of this type to a form that `CopiedForm` reads, and that form.
    func expression(_ column: String) -> (sql: String, form: CopiedForm) {
        switch self {
        case .bool: ("\(column)::int4::int8", .integer)
        case .int4: ("\(column)::int8", .integer)
        case .int8: (column, .integer)
        case .text: ("convert_to(\(column), 'UTF8')", .bytes)
        case .bytes: (column, .bytes)
        case .texts, .bytesArray: (column, .list)
        case .int8s: (column, .numbers)
        }
    }

    /// Appends a value in the binary format of COPY.
    func append(_ value: MovedValue, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(contentsOf: [0, 0, 0, 0])
        switch (value, self) {
        case (.null, _):
            for index in 0..<4 { bytes[start + index] = 0xFF }
            return
        case (.integer(let number), .bool): bytes.append(number == 0 ? 0 : 1)
        case (.integer(let number), .int4): bytes.append(bigEndian: Int32(truncatingIfNeeded: number))
        case (.integer(let number), _): bytes.append(bigEndian: number)
        case (.bytes(let content), _): bytes.append(contentsOf: content)
        case (.list(let list), _):
            Self.appendArray(list.count, of: self == .texts ? .text : .bytes, to: &bytes) { index, bytes in
                bytes.append(bigEndian: Int32(list[index].count))
                bytes.append(contentsOf: list[index])
            }
        case (.numbers(let numbers), _):
            Self.appendArray(numbers.count, of: .int8, to: &bytes) { index, bytes in
                bytes.append(bigEndian: Int32(8))
                bytes.append(bigEndian: numbers[index])
            }
        }
        let length = UInt32(bytes.count - start - 4)
        for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: length >> UInt32(24 - index * 8)) }
    }

    private static func appendArray(
        _ count: Int, of element: ColumnType, to bytes: inout [UInt8], _ append: (Int, inout [UInt8]) -> Void
    ) {
        bytes.append(bigEndian: Int32(count == 0 ? 0 : 1))
        bytes.append(bigEndian: Int32(0))
        bytes.append(bigEndian: element.rawValue)
        guard count > 0 else { return }
        bytes.append(bigEndian: Int32(count))
        bytes.append(bigEndian: Int32(1))
        for index in 0..<count { append(index, &bytes) }
    }
}

/// The form in which a value of a copied row is encoded.
enum CopiedForm {
    case integer, bytes, list, numbers

    /// Decodes the columns of a row. Each column has its own form.
    static func row(_ bytes: UnsafeRawBufferPointer, _ forms: [CopiedForm]) throws(StorageError) -> [MovedValue] {
        var row: [MovedValue] = []
        row.reserveCapacity(forms.count)
        var offset = 0
        for form in forms {
            guard offset + 4 <= bytes.count else { throw unreadable }
            let length = Int(bytes.bigEndian(at: offset) as Int32)
            offset += 4
            guard length >= 0 else {
                row.append(.null)
                continue
            }
            guard offset + length <= bytes.count else { throw unreadable }
            row.append(form.value(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])))
            offset += length
        }
        return row
    }

    private func value(_ bytes: UnsafeRawBufferPointer) -> MovedValue {
        switch self {
        case .integer: .integer(bytes.bigEndian(at: 0))
        case .bytes: .bytes(Array(bytes))
        case .list: .list(ArrayElements(bytes).map { Array($0) })
        case .numbers: .numbers(ArrayElements(bytes).map { $0.bigEndian(at: 0) })
        }
    }

    private static var unreadable: StorageError {
        StorageError(.corrupt, "A row of the database is shorter than its columns.")
    }
}
