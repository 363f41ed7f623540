import CMartletSQLite
import MartletCore

/// The id of a registration in the format of its column. An id in the form that this server gives to new registrations
/// is stored as the sixteen bytes of its two numbers, which saves three fifths of the space. Any other id is stored
/// unchanged.
enum StoredID: Bindable, Equatable {
    case packed([UInt8])
    case text(String)

    init(_ text: String) {
        self.init(PageRecordsEncoder.Registration(text))
    }

    init(_ id: PageRecordsEncoder.Registration) {
        switch id {
        case .numbers(let numbers):
            var bytes: [UInt8] = []
            bytes.reserveCapacity(RegistrationIDNumbers.byteCount)
            numbers.append(to: &bytes)
            self = .packed(bytes)
        case .text(let text): self = .text(text)
        }
    }

    init(_ row: Statement, _ column: Int32) {
        self = row.isBlob(column) ? .packed(row.bytes(column)) : .text(row.text(column))
    }

    var text: String {
        switch self {
        case .packed(let bytes): bytes.withUnsafeBufferPointer { RegistrationIDNumbers(bytes: $0)?.text ?? "" }
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
