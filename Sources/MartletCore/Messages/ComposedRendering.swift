import MartletModel

/// Renders a composed message for one platform.
struct ComposedRendering: Sendable {
    /// The reason why a message cannot be rendered.
    enum Failure: Error, Hashable {
        /// The size of the payload exceeds the platform's limit; size and limit are in bytes.
        case tooLarge(size: Int, limit: Int)
        case invalid(String)
        /// The platform has no push service that composed messages can be rendered for.
        case noPushService
    }

    let content: ComposedContent
    let platform: any PushPlatform.Type
    let id: NotificationID
    /// When the notification was accepted.
    let timestamp: Timestamp

    /// The maximum number of renderings in the search for the longest text that fits.
    private static let truncationSteps = 12
    private static let ellipsis = "…"

    /// Returns the message in one language. If the message exceeds the platform's payload limit and the sender allows
    /// truncation, the message is truncated.
    /// - Parameters:
    ///   - language: An index into the message's languages.
    ///   - value: Returns a device's value of a variable, by the name in lower case; nil to use the message's default.
    func message(
        language: Int, value: (String) -> String? = { _ in nil }
    ) throws(Failure) -> Message {
        let localized = localized(language, value)
        let message = try rendered(localized)
        guard let excess = try excess(of: message) else { return message }
        guard content.message.isTruncated else { throw excess }
        return try truncated(localized, excess)
    }

    /// Returns the message in one language, without checking its size.
    func uncheckedMessage(language: Int, value: (String) -> String?) throws(Failure) -> Message {
        try rendered(localized(language, value))
    }

    private func localized(_ language: Int, _ value: (String) -> String?) -> LocalizedMessage {
        let tags = content.languages.tags
        return content.message.localized(in: tags.indices.contains(language) ? tags[language] : nil, value: value)
    }

    /// Renders the message, and applies the sender's override for the platform.
    private func rendered(_ localized: LocalizedMessage) throws(Failure) -> Message {
        let part = content.part(of: platform.descriptor.platform)
        if case .payload(let body, let headers)? = part {
            return platform.normalized(Message(body: body, fields: headers), at: timestamp)
        }
        guard localized.title != nil || localized.text != nil || localized.isSilent else {
            throw .invalid("The message has neither title nor text, and no payload for \(name).")
        }
        guard var message = platform.message(composed: localized, id: id) else { throw .noPushService }
        if case .merged(let patch)? = part {
            do throws(JSONError) {
                message.body = try JSON(parsing: message.body).merged(with: .object(patch)).bytes
            } catch {
                throw .invalid(
                    "The message's platforms.\(name).merge needs a JSON payload, and payloads of \(name) are not JSON.")
            }
        }
        return platform.normalized(message, at: timestamp)
    }

    /// Checks a message by the rules of its platform.
    /// - Returns: `Failure.tooLarge` if the message exceeds the platform's limit; nil if the platform accepts it.
    /// - Throws: `Failure.invalid` if the platform refuses it for another reason.
    private func excess(of message: Message) throws(Failure) -> Failure? {
        do throws(PushServiceError) {
            try platform.check(message)
            return nil
        } catch {
            guard error.kind == .messageTooLarge else { throw .invalid("For \(name): \(error.description)") }
            return .tooLarge(size: platform.payloadSize(of: message), limit: platform.payloadLimit(of: message))
        }
    }

    private var name: String { platform.descriptor.platform.rawValue }

    // MARK: Truncation

    /// Truncates the text of a message that exceeds the payload limit, and if that is not enough also the title.
    private func truncated(_ localized: LocalizedMessage, _ excess: Failure) throws(Failure) -> Message {
        var shortened = localized
        for part in [\LocalizedMessage.text, \LocalizedMessage.title] as [WritableKeyPath<LocalizedMessage, String?>] {
            guard let text = localized[keyPath: part] else { continue }
            if let message = try longest(of: text, part, in: shortened) { return message }
            shortened[keyPath: part] = Self.ellipsis
        }
        throw excess
    }

    /// Truncates a text so that the message fits. Keeps approximately as many characters as possible, found by binary
    /// search.
    /// - Returns: The message with the truncated text; nil if it does not fit even without the text.
    private func longest(
        of text: String, _ part: WritableKeyPath<LocalizedMessage, String?>, in message: LocalizedMessage
    ) throws(Failure) -> Message? {
        func fitting(_ count: Int) throws(Failure) -> Message? {
            var shortened = message
            shortened[keyPath: part] = String(text.prefix(count)) + Self.ellipsis
            let message = try rendered(shortened)
            return try excess(of: message) == nil ? message : nil
        }
        guard var best = try fitting(0) else { return nil }
        var (fits, tooMany) = (0, min(text.count, platform.descriptor.payloadLimit))
        var steps = 1
        while tooMany - fits > 1, steps < Self.truncationSteps {
            steps += 1
            let middle = (fits + tooMany) / 2
            if let message = try fitting(middle) {
                (best, fits) = (message, middle)
            } else {
                tooMany = middle
            }
        }
        return best
    }
}
