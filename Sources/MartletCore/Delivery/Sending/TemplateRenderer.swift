import MartletModel

/// Renders the templates of one platform with the properties of one notification. Each template binding is rendered
/// only once, as long as the cache has room for the result.
struct TemplateRenderer: Sendable {
    /// The maximum memory of the cached results, in bytes, enough for several hundred messages of ordinary size.
    static let byteLimit = 512 << 10

    private let platform: any PushPlatform.Type
    private let properties: TemplateProperties?
    /// The approximate memory of the properties in bytes, including the dictionary that holds their names and values.
    private let propertyBytes: Int
    /// When the notification was accepted. Relative times in a message are counted from this time.
    private let timestamp: Timestamp
    private let templates: CompiledTemplates
    private var rendered = ByteBoundedCache<TemplateBinding.ID, RenderedMessage>(byteLimit: TemplateRenderer.byteLimit)

    init(
        _ properties: [UInt8], on platform: any PushPlatform.Type, at timestamp: Timestamp, templates: CompiledTemplates
    ) {
        self.properties = try? TemplateProperties(parsing: properties)
        propertyBytes = 4 * properties.count
        self.platform = platform
        self.timestamp = timestamp
        self.templates = templates
    }

    mutating func message(for rendering: TemplateBinding) -> RenderedMessage {
        switch templates.template(of: rendering, on: platform) {
        case .failure(let error):
            return .refused(Outcome(.invalidNotificationFormat, reason: error.description, .refuse))
        case .success(let template):
            var id = rendering.id
            if !Self.sees(rendering.variables, template) { id.variables = 0 }
            if let known = rendered.value(for: id) { return known }
            let result = render(template, rendering.variables)
            rendered.insert(result, for: id, bytes: result.memoryBytes)
            return result
        }
    }

    /// The names of the notification's properties, in lower case.
    var propertyNames: Set<String> { properties?.names ?? [] }

    /// Returns the names of all properties that a template uses, and the names of those properties that have no value;
    /// nil if the template or the properties of the notification are invalid.
    func uses(of rendering: TemplateBinding) -> (named: Set<String>, withoutValue: Set<String>)? {
        guard let properties, case .success(let template) = templates.template(of: rendering, on: platform) else {
            return nil
        }
        return (
            template.propertyNames, template.propertiesWithoutValue(properties, variables: rendering.variables)
        )
    }

    /// The approximate memory of the properties and the cached results, in bytes.
    var memoryBytes: Int { propertyBytes + rendered.bytes }

    /// Returns whether the template uses any of the variables. If it uses none, its message does not depend on them.
    private static func sees(_ variables: [String: String], _ template: CompiledTemplate) -> Bool {
        variables.keys.contains { template.propertyNames.contains($0.lowercased()) }
    }

    private func render(_ template: CompiledTemplate, _ variables: [String: String]) -> RenderedMessage {
        guard let properties else {
            return .refused(
                Outcome(.invalidNotificationFormat, reason: "The notification's properties are unreadable.", .refuse))
        }
        let rendered: RenderedTemplate
        do throws(TemplateRenderingError) {
            rendered = try template.render(properties, variables: variables)
        } catch {
            let name: OutcomeName =
                if case .tooLarge = error { .invalidNotificationSize } else { .invalidNotificationFormat }
            return .refused(Outcome(name, reason: error.description, .refuse))
        }
        let message = platform.normalized(Message(rendered, platform.descriptor), at: timestamp)
        do throws(PushServiceError) {
            try platform.check(message)
        } catch {
            let name: OutcomeName =
                error.kind == .messageTooLarge ? .invalidNotificationSize : .invalidNotificationFormat
            return .refused(Outcome(name, reason: error.description, .refuse))
        }
        return .message(message)
    }
}

extension Message {
    /// The approximate memory of the body and the header fields, in bytes.
    var memoryBytes: Int {
        fields.reduce(body.count + 64) { $0 + $1.key.utf8.count + $1.value.utf8.count + 96 }
    }
}
