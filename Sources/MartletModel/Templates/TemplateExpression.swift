/// A value of a template that is composed of a notification's properties.
struct TemplateExpression: Hashable, Sendable {
    enum Term: Hashable, Sendable {
        case literal([UInt8])
        case reference(Reference)
    }

    /// A reference to a property and the form of its value.
    struct Reference: Hashable, Sendable {
        enum Form: Hashable, Sendable {
            /// `$(name)`
            case whole
            /// `$(name, n)`: the first n characters.
            case prefix(Int)
            /// `.(name, n)`: at most n characters; if the value was cut off, the last three are dots.
            case clipped(Int)
            /// `%(name)`: percent-encoded for a URI.
            case uri
            /// `#(name)`: a JSON number without quotes.
            case number
        }

        /// The folded name, in which names are compared.
        var name: String
        /// The default for a missing property.
        var fallback: [UInt8] = []
        var form: Form
    }

    /// One term, or the terms of a composition.
    var terms: [Term]

    /// True if the value is a JSON number, which replaces its quotes too.
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

    /// Appends the literal terms.
    func appendLiterals(to output: inout [UInt8], _ target: TemplateTarget) {
        for case .literal(let bytes) in terms { target.append(bytes[...], to: &output) }
    }

    /// True if a value must be an expression, by its first character.
    static func isBegun(by byte: UInt8?) -> Bool {
        switch byte {
        case UInt8(ascii: "$"), UInt8(ascii: "."), UInt8(ascii: "%"), UInt8(ascii: "#"), UInt8(ascii: "{"): true
        default: false
        }
    }
}
