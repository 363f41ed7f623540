import CMartletSQLite

/// The id of a registration in the format of its column. An id in the hub's own form, "N-N-1" with 19 digits per
/// number, is stored as the sixteen bytes of its two numbers, which saves three fifths; any other id is stored
/// unchanged.
enum StoredID: Bindable, Equatable {
    case packed([UInt8])
    case text(String)

    init(_ text: String) {
        self = Self.pack(text).map(StoredID.packed) ?? .text(text)
    }

    init(_ row: Statement, _ column: Int32) {
        self = row.isBlob(column) ? .packed(row.bytes(column)) : .text(row.text(column))
    }

    var text: String {
        switch self {
        case .packed(let bytes): "\(Self.number(bytes[..<8]))-\(Self.number(bytes[8...]))-1"
        case .text(let text): text
        }
    }

    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .packed(let bytes): bytes.bind(to: statement, at: index)
        case .text(let text): text.bind(to: statement, at: index)
        }
    }

    private static let digitCount = 19

    private static func pack(_ text: String) -> [UInt8]? {
        let characters = text.utf8
        let dash = UInt8(ascii: "-")
        guard characters.count == 2 * digitCount + 3, text.hasSuffix("-1"),
            characters.dropFirst(digitCount).first == dash,
            let first = number(characters.prefix(digitCount)),
            let second = number(characters.dropFirst(digitCount + 1).prefix(digitCount))
        else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        for number in [first, second] {
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    /// Returns the number that the digits stand for; nil if there is another character, or if the first digit is zero,
    /// because the zero would be lost.
    /// - Parameter digits: Nineteen characters; nineteen digits always fit a 64-bit word.
    private static func number(_ digits: some Sequence<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
            number = number * 10 + UInt64(digit - UInt8(ascii: "0"))
        }
        return number < 1_000_000_000_000_000_000 ? nil : number
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
