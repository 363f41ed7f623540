/// A text of a message: the same for all devices, or one text per language.
public enum LocalizedText: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral {
    case plain(String)
    /// Texts by language tag, such as `de` or `de-AT`.
    case byLanguage([String: String])

    public init(stringLiteral text: String) { self = .plain(text) }

    public init(dictionaryLiteral texts: (String, String)...) {
        self = .byLanguage(Dictionary(texts) { _, last in last })
    }

    /// Returns the text for a device: in the device's language, otherwise in a more general language, otherwise in the
    /// fallback language.
    /// - Parameters:
    ///   - language: The language of the device; nil if it is unknown.
    ///   - fallback: The message's own language. Every text by language exists in this language.
    /// - Returns: The text; nil if there are only texts by language, and none of them is in one of these languages.
    func text(in language: LanguageTag?, or fallback: LanguageTag?) -> String? {
        guard case .byLanguage(let texts) = self else {
            guard case .plain(let text) = self else { return nil }
            return text
        }
        let byTag = Dictionary(texts.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
        let wanted = (language?.lookups ?? []) + (fallback.map { [$0.folded] } ?? [])
        return wanted.lazy.compactMap { byTag[$0] }.first
    }

    /// All texts, without their languages.
    var texts: [String] {
        switch self {
        case .plain(let text): [text]
        case .byLanguage(let texts): texts.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    var json: JSON {
        switch self {
        case .plain(let text): .string(text)
        case .byLanguage(let texts): .object(texts.mapValues(JSON.string))
        }
    }
}
