public import MartletModel

extension PushPlatform {
    /// Checks a template that a device registers, all of it.
    /// - Returns: The template as it is to be kept.
    /// - Throws: `PushServiceError` with the first thing that is wrong.
    public static func prepared(_ template: Template) throws(PushServiceError) -> Template {
        try checkHeaders(of: template)
        let known = Set(descriptor.templateElements.compactMap(\.option))
        if let unknown = template.options.keys.sorted().first(where: { !known.contains($0) }) {
            throw PushServiceError(.badTemplate, "Templates of this platform have no \(unknown.prefix(64)).")
        }
        let template = try checked(template)
        do throws(TemplateError) {
            _ = try CompiledTemplate(template, format: format(of: template))
        } catch {
            throw PushServiceError(.badTemplate, error.description)
        }
        return template
    }

    private static func checkHeaders(of template: Template) throws(PushServiceError) {
        guard !template.headers.isEmpty else { return }
        for case .headers(_, _, let prefix, _) in descriptor.templateElements {
            guard let prefix else { return }
            for header in template.headers where !header.name.lowercased().hasPrefix(prefix.lowercased()) {
                throw PushServiceError(.badTemplate, "The names of a template's headers begin with \(prefix).")
            }
            return
        }
        throw PushServiceError(.badTemplate, "Templates of this platform have no headers.")
    }
}

extension PushPlatformDescriptor.TemplateElement {
    /// The name of an option.
    fileprivate var option: String? {
        guard case .option(let name, _, _) = self else { return nil }
        return name
    }
}
