/// A message that hands an app named texts, silently or behind an alert.
public struct DataMessage: Hashable, Sendable {
    public struct Text: Hashable, Sendable {
        /// Letters and digits. Not `aps`, `message`, `title` or what else platforms have a meaning for.
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// At least one, each name once.
    public var texts: [Text]
    /// What is shown unless the app replaces it; nil for a message that only wakes the app.
    public var alert: String?
    /// The sound, for the platforms whose messages name one; an empty one is named and not heard.
    public var sound: String?

    public init(texts: [Text], alert: String? = nil, sound: String? = nil) {
        self.texts = texts
        self.alert = alert
        self.sound = sound
    }
}
