extension CompiledTemplate {
    /// The approximate memory of the compiled template, in bytes. This memory is at most a small multiple of the
    /// template's size, because the number of references is limited.
    public var memoryBytes: Int {
        let names = propertyNames.reduce(0) { $0 + $1.utf8.count + 2 * MemoryLayout<String>.stride + Self.allocation }
        let pieces = body.reduce(0) { $0 + MemoryLayout<TemplatePiece>.stride + $1.memoryBytes }
        let fields = (headers + options).reduce(0) { sum, field in
            sum + MemoryLayout<Field>.stride + field.name.utf8.count + Self.allocation + field.value.memoryBytes
        }
        return MemoryLayout<Self>.size + 4 * Self.allocation + names + pieces + fields
    }

    /// The overhead in bytes of an array, or of a text that is too long to be stored inline.
    fileprivate static let allocation = 48
}

extension TemplatePiece {
    fileprivate var memoryBytes: Int {
        switch self {
        case .literal(let bytes): bytes.count + CompiledTemplate.allocation
        case .value(let expression, _): expression.memoryBytes
        }
    }
}

extension CompiledTemplate.Field.Value {
    fileprivate var memoryBytes: Int {
        switch self {
        case .literal(let text): text.utf8.count + CompiledTemplate.allocation
        case .expression(let expression): expression.memoryBytes
        }
    }
}

extension TemplateExpression {
    fileprivate var memoryBytes: Int {
        terms.reduce(CompiledTemplate.allocation) { sum, term in
            let own =
                switch term {
                case .literal(let bytes): bytes.count + CompiledTemplate.allocation
                case .reference(let reference):
                    reference.name.utf8.count + reference.fallback.count + 2 * CompiledTemplate.allocation
                }
            return sum + MemoryLayout<Term>.stride + own
        }
    }
}
