import MartletModel

/// A value that can be the parameter of a statement.
protocol DatabaseValue: Sendable {
    static var type: ParameterType { get }
    func add(to parameters: inout Parameters)
}

/// An element type: a list of its values can be the parameter of a statement.
protocol DatabaseElement: Sendable {
    static var listType: ParameterType { get }
    static func add(_ list: [Self], to parameters: inout Parameters)
}

/// A text in a column of bytes (`bytea`). Untrusted texts can contain U+0000, which PostgreSQL's type `text` cannot
/// store.
struct ByteText: DatabaseValue, DatabaseElement {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static let type = ParameterType.bytes
    static let listType = ParameterType.bytesArray

    func add(to parameters: inout Parameters) { parameters.add(text) }

    static func add(_ list: [ByteText], to parameters: inout Parameters) {
        parameters.add(list.map { Array($0.text.utf8) })
    }
}

/// A text or NULL, as an element of a list for a column of bytes (`bytea`).
struct OptionalByteText: DatabaseElement {
    let text: String?

    init(_ text: String?) {
        self.text = text
    }

    static let listType = ParameterType.bytesArray

    static func add(_ list: [OptionalByteText], to parameters: inout Parameters) {
        parameters.add(list.map { item in item.text.map { Array($0.utf8) } })
    }
}

extension Int64: DatabaseValue, DatabaseElement {
    static let type = ParameterType.int8
    static let listType = ParameterType.int8s

    func add(to parameters: inout Parameters) { parameters.add(self) }
    static func add(_ list: [Int64], to parameters: inout Parameters) { parameters.add(list) }
}

extension Int32: DatabaseValue {
    static let type = ParameterType.int4

    func add(to parameters: inout Parameters) { parameters.add(self) }
}

extension Int: DatabaseValue, DatabaseElement {
    static let type = ParameterType.int8
    static let listType = ParameterType.int8s

    func add(to parameters: inout Parameters) { parameters.add(Int64(self)) }
    static func add(_ list: [Int], to parameters: inout Parameters) { parameters.add(list.map { Int64($0) }) }
}

extension Bool: DatabaseValue {
    static let type = ParameterType.bool

    func add(to parameters: inout Parameters) { parameters.add(self) }
}

extension String: DatabaseValue, DatabaseElement {
    static let type = ParameterType.text
    static let listType = ParameterType.texts

    func add(to parameters: inout Parameters) { parameters.add(self) }
    static func add(_ list: [String], to parameters: inout Parameters) { parameters.add(list) }
}

extension Timestamp: DatabaseValue, DatabaseElement {
    static let type = ParameterType.int8
    static let listType = ParameterType.int8s

    func add(to parameters: inout Parameters) { parameters.add(milliseconds) }

    static func add(_ list: [Timestamp], to parameters: inout Parameters) {
        parameters.add(list.map(\.milliseconds))
    }
}

extension UInt8: DatabaseElement {
    static let listType = ParameterType.bytes

    static func add(_ list: [UInt8], to parameters: inout Parameters) { parameters.add(list) }
}

extension Array: DatabaseValue where Element: DatabaseElement {
    static var type: ParameterType { Element.listType }

    func add(to parameters: inout Parameters) { Element.add(self, to: &parameters) }
}

extension [UInt8]: DatabaseElement {
    static let listType = ParameterType.bytesArray

    static func add(_ list: [[UInt8]], to parameters: inout Parameters) { parameters.add(list) }
}

extension Optional: DatabaseValue where Wrapped: DatabaseValue {
    static var type: ParameterType { Wrapped.type }

    func add(to parameters: inout Parameters) {
        if let self { self.add(to: &parameters) } else { parameters.addNull() }
    }
}
