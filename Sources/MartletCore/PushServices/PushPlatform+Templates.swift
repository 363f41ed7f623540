public import MartletModel

extension PushPlatform {
    /// Checks a template that a device registers.
    /// - Parameter isStored: Whether the same template is already stored. If so, its size is not checked, so that a
    ///   template that was stored before the size check existed does not block other changes.
    /// - Returns: The template in its stored form.
    /// - Throws: `PushServiceError` for the first fault.
    public static func prepared(
        _ template: Template, isStored: Bool = false
    ) throws(PushServiceError) -> Template {
        try checkHeaders(of: template)
        let known = Set(descriptor.registration.templateElements.compactMap(\.option))
        if let unknown = template.options.keys.sorted().first(where: { !known.contains($0) }) {
            throw PushServiceError(.badTemplate, "Templates of this platform have no \(unknown.prefix(64)).")
        }
        let template = try checked(template)
        let compiled: CompiledTemplate
        do throws(TemplateError) {
            compiled = try CompiledTemplate(template, format: format(of: template))
        } catch {
            throw PushServiceError(.badTemplate, error.description)
        }
        if !isStored { try checkSize(of: template, compiled) }
        return template
    }

    /// Checks that the platform accepts at least the smallest message that the template can produce.
    private static func checkSize(of template: Template, _ compiled: CompiledTemplate) throws(PushServiceError) {
        let smallest = normalized(Message(compiled.constantPart, descriptor), at: Timestamp(seconds: 0))
        let (size, limit) = (payloadSize(of: smallest), payloadLimit(of: template))
        guard size <= limit else {
            throw PushServiceError(
                .badTemplate,
                "The template's constant part makes a payload of \(size) bytes, before any property is filled in; the "
                    + "platform takes at most \(limit). Shorten the template.")
        }
    }

    private static func checkHeaders(of template: Template) throws(PushServiceError) {
        guard !template.headers.isEmpty else { return }
        for case .headers(_, _, let prefix, _) in descriptor.registration.templateElements {
            guard let prefix else { return }
            for header in template.headers where !header.name.lowercased().hasPrefix(prefix.lowercased()) {
                throw PushServiceError(.badTemplate, "The names of a template's headers begin with \(prefix).")
            }
            return
        }
        throw PushServiceError(.badTemplate, "Templates of this platform have no headers.")
    }
}

extension PushPlatformDescriptor.RegistrationForm.TemplateElement {
    fileprivate var option: String? {
        guard case .option(let name, _, _) = self else { return nil }
        return name
    }
}
