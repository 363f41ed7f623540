/// An expression in a template. Its result is composed of a notification's properties and of literal texts.
struct TemplateExpression: Hashable, Sendable {
    enum Term: Hashable, Sendable {
        case literal([UInt8])
        case reference(Reference)
    }

    /// A reference to a property, with the form in which the property's value is inserted.
    struct Reference: Hashable, Sendable {
        enum Form: Hashable, Sendable {
            /// `$(name)`: the whole value.
            case whole
            /// `$(name, n)`: the first n characters.
            case prefix(Int)
            /// `.(name, n)`: at most n characters. If the value is longer, it is cut, and the last three of the n
            /// characters are dots.
            case clipped(Int)
            /// `%(name)`: percent-encoded for a URI.
            case uri
            /// `#(name)`: a JSON number without quotes.
            case number
        }

        /// The name of the property, with ASCII letters in lower case.
        var name: String
        /// The default for a missing property.
        var fallback: [UInt8] = []
        var form: Form
    }

    /// The terms that are joined: one term, or several terms of a composition in braces.
    var terms: [Term]

    /// True if the result is a JSON number. It then replaces the expression together with the quotes around it.
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

    /// Appends the literal terms, omitting the references.
    func appendLiterals(to output: inout [UInt8], _ target: TemplateTarget) {
        for case .literal(let bytes) in terms { target.append(bytes[...], to: &output) }
    }

    /// Returns true if a value that begins with this byte must be an expression.
    static func isBegun(by byte: UInt8?) -> Bool {
        switch byte {
        case UInt8(ascii: "$"), UInt8(ascii: "."), UInt8(ascii: "%"), UInt8(ascii: "#"), UInt8(ascii: "{"): true
        default: false
        }
    }
}
