import MartletModel

/// Makes the messages of one platform from a composed message.
struct ComposedRendering: Sendable {
    /// Why there is no message.
    enum Failure: Error, Hashable {
        /// In bytes.
        case tooLarge(size: Int, limit: Int)
        case invalid(String)
        /// No push service shows composed messages on the platform.
        case noPushService
    }

    let content: ComposedContent
    let platform: any PushPlatform.Type
    let id: NotificationID
    /// When the notification was accepted.
    let timestamp: Timestamp

    /// The most renderings to find out how much of a text fits.
    private static let truncationSteps = 12
    private static let ellipsis = "…"

    /// Returns the message in one language, shortened where the sender allows it.
    /// - Parameters:
    ///   - language: An index of the message's languages.
    ///   - value: The value of a variable by its name in lower case; nil for what the message shows instead.
    func message(
        language: Int, value: (String) -> String? = { _ in nil }
    ) throws(Failure) -> Message {
        let localized = localized(language, value)
        let message = try rendered(localized)
        guard let excess = try excess(of: message) else { return message }
        guard content.message.isTruncated else { throw excess }
        return try truncated(localized, excess)
    }

    /// The message in one language, of any size.
    func uncheckedMessage(language: Int, value: (String) -> String?) throws(Failure) -> Message {
        try rendered(localized(language, value))
    }

    private func localized(_ language: Int, _ value: (String) -> String?) -> LocalizedMessage {
        let tags = content.languages.tags
        return content.message.localized(in: tags.indices.contains(language) ? tags[language] : nil, value: value)
    }

    /// The platform's message with what the sender wants to be different there.
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
                throw .invalid("The message's platforms.\(name).merge changes JSON, which payloads of \(name) are not.")
            }
        }
        return platform.normalized(message, at: timestamp)
    }

    /// - Returns: nil if the platform accepts the message; how much it is too large otherwise.
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

    /// Cuts the text, and if that is not enough the title.
    private func truncated(_ localized: LocalizedMessage, _ excess: Failure) throws(Failure) -> Message {
        var shortened = localized
        for part in [\LocalizedMessage.text, \LocalizedMessage.title] as [WritableKeyPath<LocalizedMessage, String?>] {
            guard let text = localized[keyPath: part] else { continue }
            if let message = try longest(of: text, part, in: shortened) { return message }
            shortened[keyPath: part] = Self.ellipsis
        }
        throw excess
    }

    /// Finds, by halving, about how many characters of a text fit.
    /// - Returns: nil if the message does not fit even without the text.
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
