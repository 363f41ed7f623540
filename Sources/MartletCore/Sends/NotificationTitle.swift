import MartletModel

extension Notification {
    private static let titleLimit = 200

    /// Returns one line that identifies the notification: the title that a device shows or, if there is none, the text;
    /// nil if the content has neither.
    public func title(_ platforms: PushPlatformList) -> String? {
        let text: String?
        switch content {
        case .native(let platform, let message):
            let type = platforms[platform]
            let normalized = type?.normalized(message, at: acceptedAt) ?? message
            let appearance = type?.appearance(of: normalized)
            text = appearance?.title ?? appearance?.text
        case .template(let properties):
            let members = (try? JSON(parsing: properties))?.object ?? [:]
            text = ["title", "message", "text", "body"].lazy.compactMap { members[$0]?.string }.first
        case .message(let content):
            let body = try? JSON(parsing: content.body)
            text = ["title", "text"].lazy.compactMap { Self.anyLanguage(body?[$0], body?["language"]?.string) }.first
        }
        return text.map { String($0.prefix(Self.titleLimit)) }
    }

    /// Returns the text of a property of a composed message: the plain text, or the text in the message's own language
    /// or, if there is none, in the first language.
    private static func anyLanguage(_ value: JSON?, _ language: String?) -> String? {
        if let text = value?.string { return text }
        guard let texts = value?.object else { return nil }
        return language.flatMap { texts[$0]?.string } ?? texts.min { $0.key < $1.key }?.value.string
    }
}
