import CMartletSQLite
import MartletCore
import MartletModel

/// A handle, or its key, in the format of its column. An even number of lower-case hexadecimal digits is stored as
/// bytes, which halves the size of an APNs token. Any other text is stored unchanged.
enum StoredHandle: Bindable, Equatable {
    case packed([UInt8])
    case text(String)

    init(_ text: String) {
        self = HexDigits.bytes(of: text).map(StoredHandle.packed) ?? .text(text)
    }

    init(_ row: Statement, _ column: Int32) {
        self = row.isBlob(column) ? .packed(row.bytes(column)) : .text(row.text(column))
    }

    var text: String {
        switch self {
        case .packed(let bytes): bytes.withUnsafeBufferPointer { HexDigits.text(of: $0) }
        case .text(let text): text
        }
    }

    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .packed(let bytes): bytes.bind(to: statement, at: index)
        case .text(let text): text.bind(to: statement, at: index)
        }
    }
}
