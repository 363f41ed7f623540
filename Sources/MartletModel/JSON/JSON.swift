/// A JSON text as a tree (RFC 8259).
public enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number that is written without fraction or exponent, and fits into 64 bits.
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([JSON])
    /// An object. If the parsed text contains a member twice, the last value is used.
    case object([String: JSON])

    /// The member of an object; nil if the member is missing or the value is not an object.
    public subscript(name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// The text of a string; nil for other types.
    public var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The value of an integer; nil for other types.
    public var integer: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    /// The value of `true` or `false`; nil for other types.
    public var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// The elements of an array; nil for other types.
    public var array: [JSON]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// The members of an object; nil for other types.
    public var object: [String: JSON]? {
        guard case .object(let members) = self else { return nil }
        return members
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }

    public init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}
