/// A checked template, split into pieces for fast rendering.
public struct CompiledTemplate: Hashable, Sendable {
    public let format: TemplateFormat
    /// The names, in lower case, of the properties on which the rendering depends. If two devices have the same
    /// template, and equal variables with these names, they get the same result for a notification.
    public let propertyNames: Set<String>

    let body: [TemplatePiece]
    let headers: [Field]
    let options: [Field]

    /// A header or option of the template.
    struct Field: Hashable, Sendable {
        enum Value: Hashable, Sendable {
            case literal(String)
            case expression(TemplateExpression)
        }

        let name: String
        let value: Value
    }

    /// Checks a template and compiles it.
    /// - Parameter format: The format of the body. JSON must be valid according to RFC 8259; XML must be a well-formed
    ///   document of XML 1.0 without a document type declaration.
    /// - Throws: `TemplateError` with the first error, including violations of the limits of `Template`.
    public init(_ template: Template, format: TemplateFormat) throws(TemplateError) {
        guard (template.name ?? "").unicodeScalars.count <= Template.nameLimit else {
            throw TemplateError(index: .name, reason: "has more than \(Template.nameLimit) characters")
        }
        self.format = format
        body = try Self.pieces(of: Array(template.body.utf8), format)
        headers = try Self.headers(template.headers)
        options = try Self.options(template.options)
        let references = Self.references(of: body, headers + options)
        guard references.count <= Template.referenceLimit else {
            throw TemplateError(
                index: .body, reason: "and values name more than \(Template.referenceLimit) properties altogether")
        }
        propertyNames = Set(references.map(\.name))
    }
}

extension CompiledTemplate {
    private static func pieces(
        of bytes: [UInt8], _ format: TemplateFormat
    ) throws(TemplateError) -> [TemplatePiece] {
        guard bytes.count <= Template.bodyLimit else {
            throw TemplateError(index: .body, reason: "has more than \(Template.bodyLimit) bytes")
        }
        guard !bytes.isEmpty else { throw TemplateError(index: .body, reason: "is empty") }
        var pieces: [TemplatePiece] = []
        // A value without a reference to a property becomes part of the literal. Most values are of this kind, and a
        // separate piece for each of them would use many times the memory.
        var literal: [UInt8] = []
        var end = 0
        for value in try values(of: bytes, format) {
            let expression = try expression(value.text, at: .bodyAt(value.range.lowerBound), value.target)
            // A number replaces its expression together with the quotes around it. The range of the value excludes
            // these quotes.
            let margin = expression.isNumber ? 1 : 0
            literal += bytes[end..<value.range.lowerBound - margin]
            if expression.references.isEmpty {
                expression.appendLiterals(to: &literal, value.target)
            } else {
                append(&literal, to: &pieces)
                pieces.append(.value(expression, value.target))
            }
            end = value.range.upperBound + margin
        }
        literal += bytes[end...]
        append(&literal, to: &pieces)
        return pieces
    }

    private static func values(
        of bytes: [UInt8], _ format: TemplateFormat
    ) throws(TemplateError) -> [TemplateValue] {
        do throws(TemplateBodyError) {
            switch format {
            case .json: return try TemplateBody.expressions(inJSON: bytes)
            case .xml: return try TemplateBody.expressions(inXML: bytes)
            case .text:
                guard TemplateExpression.isBegun(by: bytes.first) else { return [] }
                return [TemplateValue(range: 0..<bytes.count, text: bytes, target: .plain)]
            }
        } catch {
            throw TemplateError(index: .bodyAt(error.offset), reason: error.reason)
        }
    }

    /// Appends a literal, without spare capacity, to the pieces and begins a new literal.
    private static func append(_ literal: inout [UInt8], to pieces: inout [TemplatePiece]) {
        if !literal.isEmpty { pieces.append(.literal(Array(literal[...]))) }
        literal.removeAll(keepingCapacity: true)
    }

    private static func expression(
        _ text: some Collection<UInt8>, at index: TemplateError.Location, _ target: TemplateTarget
    ) throws(TemplateError) -> TemplateExpression {
        let expression: TemplateExpression
        do throws(TemplateExpressionError) {
            expression = try TemplateExpression(text)
        } catch {
            throw TemplateError(index: index, reason: error.reason)
        }
        guard !expression.isNumber || target == .jsonString else {
            throw TemplateError(
                index: index, reason: "has a number with #, which only the strings of a JSON body can have")
        }
        return expression
    }

    private static func headers(_ headers: [Template.Header]) throws(TemplateError) -> [Field] {
        guard headers.count <= Template.fieldLimit else {
            throw TemplateError(index: .body, reason: "comes with more than \(Template.fieldLimit) headers")
        }
        var fields: [Field] = []
        for header in headers {
            guard !header.name.isEmpty, header.name.utf8.allSatisfy(\.isOfFieldName) else {
                throw TemplateError(index: .header(header.name), reason: "has a name that is none for an HTTP header")
            }
            fields.append(try field(header.name, header.value, at: .header(header.name)))
        }
        return fields
    }

    private static func options(_ options: [String: String]) throws(TemplateError) -> [Field] {
        guard options.count <= Template.fieldLimit else {
            throw TemplateError(index: .body, reason: "comes with more than \(Template.fieldLimit) options")
        }
        var fields: [Field] = []
        for (name, value) in options.sorted(by: { $0.key < $1.key }) {
            fields.append(try field(name, value, at: .option(name)))
        }
        return fields
    }

    private static func field(
        _ name: String, _ value: String, at index: TemplateError.Location
    ) throws(TemplateError) -> Field {
        guard name.utf8.count <= Template.fieldNameLimit else {
            throw TemplateError(index: index, reason: "has a name of more than \(Template.fieldNameLimit) bytes")
        }
        guard value.utf8.count <= Template.fieldValueLimit else {
            throw TemplateError(index: index, reason: "has a value of more than \(Template.fieldValueLimit) bytes")
        }
        if TemplateExpression.isBegun(by: value.utf8.first) {
            return Field(name: name, value: .expression(try expression(value.utf8, at: index, .plain)))
        }
        guard let literal = fieldValue(Array(value.utf8)) else {
            throw TemplateError(index: index, reason: "has a line break or another control character in its value")
        }
        return Field(name: name, value: .literal(literal))
    }

    /// Returns a value in the form allowed in HTTP fields, without leading and trailing white space; nil if the value
    /// contains a control character.
    static func fieldValue(_ bytes: [UInt8]) -> String? {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { return nil }
        guard let first = bytes.firstIndex(where: { !isBlank($0) }), let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }

    static func references(
        of body: [TemplatePiece], _ fields: [Field]
    ) -> [TemplateExpression.Reference] {
        body.flatMap { piece in
            guard case .value(let expression, _) = piece else { return [TemplateExpression.Reference]() }
            return expression.references
        }
            + fields.flatMap { field in
                guard case .expression(let expression) = field.value else { return [TemplateExpression.Reference]() }
                return expression.references
            }
    }
}
