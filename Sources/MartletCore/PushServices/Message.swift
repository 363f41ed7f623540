import MartletModel

/// What is to reach a device, in the form of one platform.
public struct Message: Sendable, CustomStringConvertible {
    /// The payload as the push service takes it.
    public var body: [UInt8]
    /// The caller's header fields that mean something to the platform, names in lower case.
    public var fields: [String: String]

    public init(body: [UInt8], fields: [String: String] = [:]) {
        self.body = body
        self.fields = fields
    }

    /// Shows no content.
    public var description: String { "message of \(body.count) bytes" }
}

extension Message {
    /// What a template has given. A header or an option whose expression came to nothing is left out.
    init(_ rendered: RenderedTemplate, _ descriptor: PushPlatformDescriptor) {
        self.init(body: rendered.body)
        for case .option(let name, let field, _) in descriptor.templateElements {
            if let value = rendered.options[name], !value.isEmpty { fields[field] = value }
        }
        for header in rendered.headers where !header.value.isEmpty { fields[header.name.lowercased()] = header.value }
    }
}
