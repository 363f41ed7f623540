/// A header field, and whether HTTP/2 may keep it in a header table.
public struct HTTPField: Hashable, Sendable {
    /// Tells whether an HTTP/2 header table may hold a field (RFC 7541, section 7.1).
    public enum Indexing: Hashable, Sendable {
        /// The field may be added to the table. On a received field: the field is in the table.
        case allowed
        /// The field must be sent as a never-indexed literal. On a received field: the field was not indexed.
        case never
    }

    /// The name in lower case, as HTTP/2 requires. HTTP/1.1 ignores the case of names.
    public let name: String
    public var value: String
    public var indexing: Indexing

    /// Creates a field.
    /// - Parameter name: The name in any case; stored in lower case.
    public init(_ name: String, _ value: String, indexing: Indexing = .allowed) {
        // Most names are already in lower case, so this check avoids the allocation of a copy.
        let isLower = name.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.allSatisfy { $0 < 0x80 && !(0x41...0x5A).contains($0) }
        }
        self.name = isLower == true ? name : name.lowercased()
        self.value = value
        self.indexing = indexing
    }
}

/// Header fields in the order in which they were added; a name may occur more than once.
public struct HTTPFields: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    private var fields: [HTTPField] = []

    public init() {}

    public init(_ fields: [HTTPField]) {
        self.fields = fields
    }

    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { HTTPField($0, $1) }
    }

    /// The first value of a field; nil if there is no such field. Setting the value replaces all fields of that name.
    /// - Parameter name: The name in lower case.
    public subscript(name: String) -> String? {
        get {
            // By index, here and below: a loop over the fields would copy each of them.
            for index in fields.indices where fields[index].name == name { return fields[index].value }
            return nil
        }
        set {
            fields.removeAll { $0.name == name }
            if let newValue { fields.append(HTTPField(name, newValue)) }
        }
    }

    /// Returns every value of a field, in the order in which the values were added.
    /// - Parameter name: The name in lower case.
    public func values(of name: String) -> [String] {
        var values: [String] = []
        for index in fields.indices where fields[index].name == name { values.append(fields[index].value) }
        return values
    }

    public mutating func append(_ field: HTTPField) {
        fields.append(field)
    }
}

extension HTTPFields: RandomAccessCollection {
    public var startIndex: Int { fields.startIndex }
    public var endIndex: Int { fields.endIndex }
    public subscript(position: Int) -> HTTPField { fields[position] }
}
