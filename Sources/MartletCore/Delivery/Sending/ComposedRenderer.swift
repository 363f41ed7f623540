import MartletModel

/// Renders a composed message for the devices of one platform. Each variant is rendered only once, as long as the cache
/// has room for the rendered message.
struct ComposedRenderer: Sendable {
    /// The maximum memory for messages with variables, in bytes.
    private static let byteLimit = 512 << 10

    private let rendering: ComposedRendering
    /// The rendered messages for devices without variables, by language.
    private var plain: [Int: RenderedMessage] = [:]
    /// The compiled messages for devices with variables, by language.
    private var compiled: [Int: CompiledMessage] = [:]
    private var filled = ByteBoundedCache<MessageVariant.ID, RenderedMessage>(byteLimit: ComposedRenderer.byteLimit)

    init(_ rendering: ComposedRendering) {
        self.rendering = rendering
    }

    /// The approximate memory of the rendered messages, in bytes.
    var memoryBytes: Int {
        plain.values.reduce(0) { $0 + $1.memoryBytes } + compiled.values.reduce(0) { $0 + $1.memoryBytes }
            + filled.bytes
    }

    mutating func message(for variant: MessageVariant) -> RenderedMessage {
        let values = values(of: variant)
        guard !values.isEmpty else { return message(language: variant.id.language) }
        if let known = filled.value(for: variant.id) { return known }
        let result = message(language: variant.id.language, values)
        filled.insert(result, for: variant.id, bytes: result.memoryBytes)
        return result
    }

    /// Returns the message for devices without variables.
    /// - Parameter language: The index of the language in the composed message.
    mutating func message(language: Int) -> RenderedMessage {
        if let known = plain[language] { return known }
        let result = result { () throws(ComposedRendering.Failure) in try rendering.message(language: language) }
        plain[language] = result
        return result
    }

    /// Returns the variables of a device that the message uses, by name in lower case.
    private func values(of variant: MessageVariant) -> [String: String] {
        guard !variant.variables.isEmpty, rendering.content.usesVariables else { return [:] }
        var values: [String: String] = [:]
        for (name, value) in variant.variables.sorted(by: { $0.key < $1.key }) {
            let folded = name.lowercased()
            if rendering.content.variables.contains(folded) { values[folded] = value }
        }
        return values
    }

    /// Returns the compiled message with the values of a device's variables filled in. If the result may be too large,
    /// the whole message is rendered again with these values. That rendering truncates the message or refuses it.
    private mutating func message(language: Int, _ values: [String: String]) -> RenderedMessage {
        result { () throws(ComposedRendering.Failure) in
            if compiled[language] == nil { compiled[language] = try CompiledMessage(rendering, language: language) }
            if let message = compiled[language]?.message(values),
                message.body.count <= rendering.platform.payloadLimit(of: message)
            {
                return message
            }
            return try rendering.message(language: language) { values[$0] }
        }
    }

    private func result(_ render: () throws(ComposedRendering.Failure) -> Message) -> RenderedMessage {
        do throws(ComposedRendering.Failure) {
            return .message(try render())
        } catch {
            return .refused(outcome(of: error))
        }
    }

    private func outcome(of failure: ComposedRendering.Failure) -> Outcome {
        switch failure {
        case .tooLarge(let size, let limit):
            Outcome(
                .invalidNotificationSize,
                reason: "The payload has \(ComposedMessage.grouped(size)) bytes and may have "
                    + "\(ComposedMessage.grouped(limit)).", .refuse)
        case .invalid(let sentence): Outcome(.invalidNotificationFormat, reason: sentence, .refuse)
        case .noPushService: .noPushService(for: rendering.platform.descriptor.platform)
        }
    }
}

extension ComposedRendering {
    init(_ content: ComposedContent, of notification: Notification, on platform: any PushPlatform.Type) {
        self.init(content: content, platform: platform, id: notification.id, timestamp: notification.acceptedAt)
    }
}
