import MartletModel

/// The message for a device, in the format of one platform.
public struct Message: Sendable, CustomStringConvertible {
    /// The payload in the format of the push service.
    public var body: [UInt8]
    /// The sender's header fields that have a meaning for the platform, keyed by their names in lower case.
    public var fields: [String: String]

    public init(body: [UInt8], fields: [String: String] = [:]) {
        self.body = body
        self.fields = fields
    }

    /// A description with the size of the message, without its content.
    public var description: String { "message of \(body.count) bytes" }
}

extension Message {
    /// Creates the message of a rendered template. A header or an option with an empty value is omitted.
    init(_ rendered: RenderedTemplate, _ descriptor: PushPlatformDescriptor) {
        self.init(body: rendered.body)
        for case .option(let name, let field, _) in descriptor.registration.templateElements {
            if let value = rendered.options[name], !value.isEmpty { fields[field] = value }
        }
        for header in rendered.headers where !header.value.isEmpty { fields[header.name.lowercased()] = header.value }
    }
}
