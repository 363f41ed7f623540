/// A message that passes name-value pairs to an app, with an alert or silently.
public struct DataMessage: Hashable, Sendable {
    public struct Text: Hashable, Sendable {
        /// The name, made of letters and digits. It must not be `aps`, `message`, `title` or another name with a
        /// meaning for a platform.
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The name-value pairs, at least one. Their names are unique.
    public var texts: [Text]
    /// The text to show unless the app replaces it; nil for a message that only wakes the app.
    public var alert: String?
    /// The sound, for platforms whose messages have one; an empty name means no sound.
    public var sound: String?

    public init(texts: [Text], alert: String? = nil, sound: String? = nil) {
        self.texts = texts
        self.alert = alert
        self.sound = sound
    }
}
