import MartletModel

/// Fills in the templates of one platform with the properties of one notification: each rendering once, as far as there
/// is room to remember it.
struct TemplateRenderer: Sendable {
    /// What a rendering has come to.
    enum Rendered: Sendable {
        case message(Message)
        /// Nothing is sent to the devices that have it; the others are not concerned.
        case refused(Outcome)
    }

    /// How much memory the renderings take that are remembered, in bytes: some hundred of the ordinary size.
    static let byteLimit = 512 << 10

    private let platform: any PushPlatform.Type
    private let properties: TemplateProperties?
    /// About how much memory the properties take: their names and values, with what a table of them needs.
    private let propertyBytes: Int
    /// When the notification came, for what a message means by its times.
    private let timestamp: Timestamp
    private let templates: CompiledTemplates
    private var rendered = ByteBoundedCache<TemplateBinding.ID, Rendered>(byteLimit: TemplateRenderer.byteLimit)

    init(
        _ properties: [UInt8], on platform: any PushPlatform.Type, at timestamp: Timestamp, templates: CompiledTemplates
    ) {
        self.properties = try? TemplateProperties(parsing: properties)
        propertyBytes = 4 * properties.count
        self.platform = platform
        self.timestamp = timestamp
        self.templates = templates
    }

    mutating func message(for rendering: TemplateBinding) -> Rendered {
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

    /// About how much memory the properties and what is remembered take, in bytes.
    var memoryBytes: Int { propertyBytes + rendered.bytes }

    /// Whether the variables can make a difference.
    private static func sees(_ variables: [String: String], _ template: CompiledTemplate) -> Bool {
        variables.keys.contains { template.propertyNames.contains($0.lowercased()) }
    }

    private func render(_ template: CompiledTemplate, _ variables: [String: String]) -> Rendered {
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

extension TemplateRenderer.Rendered {
    /// About how much memory it takes outside of itself, in bytes.
    fileprivate var memoryBytes: Int {
        switch self {
        case .message(let message): message.memoryBytes
        case .refused(let outcome): outcome.reason.utf8.count + 64
        }
    }
}

extension Message {
    /// About how much memory it takes outside of itself, in bytes.
    var memoryBytes: Int {
        fields.reduce(body.count + 64) { $0 + $1.key.utf8.count + $1.value.utf8.count + 96 }
    }
}
