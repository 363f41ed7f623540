/// A value of a template that is put together from a notification's properties.
struct TemplateExpression: Hashable, Sendable {
    enum Term: Hashable, Sendable {
        case literal([UInt8])
        case reference(Reference)
    }

    /// A property and what is made of it.
    struct Reference: Hashable, Sendable {
        enum Form: Hashable, Sendable {
            /// `$(name)`
            case whole
            /// `$(name, n)`: the first n characters.
            case prefix(Int)
            /// `.(name, n)`: at most n characters, the last three of them dots where something was cut off.
            case clipped(Int)
            /// `%(name)`: percent-encoded for a URI.
            case uri
            /// `#(name)`: a JSON number without quotes.
            case number
        }

        /// In the case by which names compare.
        var name: String
        /// What stands for a missing property.
        var fallback: [UInt8] = []
        var form: Form
    }

    /// One, or those that a composition joins.
    var terms: [Term]

    /// Whether the value makes a JSON number, whose quotes go.
    var isNumber: Bool {
        guard case .reference(let reference)? = terms.first else { return false }
        return reference.form == .number
    }

    var references: [Reference] {
        terms.compactMap { term in
            guard case .reference(let reference) = term else { return nil }
            return reference
        }
    }

    /// Appends what it has besides properties.
    func appendLiterals(to output: inout [UInt8], _ target: TemplateTarget) {
        for case .literal(let bytes) in terms { target.append(bytes[...], to: &output) }
    }

    /// Whether a value has to be an expression: its first character says so.
    static func isBegun(by byte: UInt8?) -> Bool {
        switch byte {
        case UInt8(ascii: "$"), UInt8(ascii: "."), UInt8(ascii: "%"), UInt8(ascii: "#"), UInt8(ascii: "{"): true
        default: false
        }
    }
}
