extension CompiledTemplate {
    /// Renders the template for a notification.
    ///
    /// A property without a value in `properties` or `variables`, and without a default, is rendered as an empty text.
    /// Lengths are counted in characters as seen by a reader (extended grapheme clusters), so that no letter loses its
    /// accent and no emoji is split. An expression `.(name, n)` with n below 3 inserts n characters and no dots.
    /// - Parameters:
    ///   - properties: The properties of the notification. They override the variables.
    ///   - variables: The push variables of the device's registration or installation; the case of names is ignored.
    /// - Throws: `TemplateRenderingError` if the result cannot be sent.
    public func render(
        _ properties: TemplateProperties, variables: [String: String] = [:]
    ) throws(TemplateRenderingError) -> RenderedTemplate {
        let variables = variables.isEmpty ? nil : TemplateProperties(variables)
        var rendering = TemplateRendering(properties: properties, variables: variables)
        let body = try rendering.body(body)
        var headers: [Template.Header] = []
        headers.reserveCapacity(self.headers.count)
        for field in self.headers {
            headers.append(Template.Header(name: field.name, value: try rendering.value(of: field)))
        }
        var options: [String: String] = [:]
        for field in self.options { options[field.name] = try rendering.value(of: field) }
        return RenderedTemplate(body: body, headers: headers, options: options)
    }

    /// Returns the names of the properties that the template inserts without a default, and that have no value. The
    /// names are in lower case.
    public func propertiesWithoutValue(
        _ properties: TemplateProperties, variables: [String: String] = [:]
    ) -> Set<String> {
        let variables = TemplateProperties(variables)
        let missing = Self.references(of: body, headers + options).filter { reference in
            reference.fallback.isEmpty && properties.bytes(of: reference.name) == nil
                && variables.bytes(of: reference.name) == nil
        }
        return Set(missing.map(\.name))
    }

    /// The constant part of the template: the result of rendering the template with every property empty and every
    /// number 0.
    public var constantPart: RenderedTemplate {
        var output: [UInt8] = []
        for piece in body {
            switch piece {
            case .literal(let bytes): output += bytes
            case .value(let expression, let target):
                if expression.isNumber { output.append(UInt8(ascii: "0")) }
                expression.appendLiterals(to: &output, target)
            }
        }
        let headers = headers.map { Template.Header(name: $0.name, value: $0.literal) }
        let options = Dictionary(options.map { ($0.name, $0.literal) }) { _, last in last }
        return RenderedTemplate(body: output, headers: headers, options: options)
    }
}

extension CompiledTemplate.Field {
    /// The value of the field if it is constant; an empty text if it is an expression.
    fileprivate var literal: String {
        if case .literal(let text) = value { text } else { "" }
    }
}

/// One rendering of a template. It looks up the values, joins them and limits the size of the result.
private struct TemplateRendering {
    let properties: TemplateProperties
    let variables: TemplateProperties?
    /// The number of bytes that may still be added to the result.
    private var room = RenderedTemplate.sizeLimit

    init(properties: TemplateProperties, variables: TemplateProperties?) {
        self.properties = properties
        self.variables = variables
    }

    mutating func body(_ pieces: [TemplatePiece]) throws(TemplateRenderingError) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(512)
        for piece in pieces {
            switch piece {
            case .literal(let bytes): output += bytes
            case .value(let expression, let target): try append(expression, target, to: &output)
            }
            guard output.count <= room else { throw .tooLarge(limit: RenderedTemplate.sizeLimit) }
        }
        room -= output.count
        return output
    }

    mutating func value(of field: CompiledTemplate.Field) throws(TemplateRenderingError) -> String {
        let text: String
        switch field.value {
        case .literal(let literal): text = literal
        case .expression(let expression):
            var output: [UInt8] = []
            try append(expression, .plain, to: &output)
            guard let value = CompiledTemplate.fieldValue(output) else { throw .controlCharacter(name: field.name) }
            text = value
        }
        room -= text.utf8.count
        guard room >= 0 else { throw .tooLarge(limit: RenderedTemplate.sizeLimit) }
        return text
    }

    private func append(
        _ expression: TemplateExpression, _ target: TemplateTarget, to output: inout [UInt8]
    ) throws(TemplateRenderingError) {
        for term in expression.terms {
            switch term {
            case .literal(let bytes): target.append(bytes[...], to: &output)
            case .reference(let reference): try append(reference, target, to: &output)
            }
            // The size is checked after every term, because one property may be referenced hundreds of times.
            guard output.count <= room else { throw .tooLarge(limit: RenderedTemplate.sizeLimit) }
        }
    }

    private func append(
        _ reference: TemplateExpression.Reference, _ target: TemplateTarget, to output: inout [UInt8]
    ) throws(TemplateRenderingError) {
        let value =
            properties.bytes(of: reference.name) ?? variables?.bytes(of: reference.name) ?? reference.fallback
        switch reference.form {
        case .whole: target.append(value[...], to: &output)
        case .prefix(let length): target.append(value.prefix(characters: length), to: &output)
        case .clipped(let length):
            let isClipped = length >= 3 && value.prefix(characters: length).count < value.count
            target.append(value.prefix(characters: isClipped ? length - 3 : length), to: &output)
            if isClipped { target.append(Self.dots[...], to: &output) }
        case .uri: target.append(value.percentEncoded[...], to: &output)
        case .number:
            guard value.isJSONNumber else { throw .notANumber(property: reference.name) }
            output += value
        }
    }

    private static let dots = Array("...".utf8)
}
