/// A strict reader for the members of one JSON object of a message: wrong types and unknown members are errors.
struct MessageMembers {
    private let members: [String: JSON]
    /// The path of the object followed by a dot, for errors; empty for the message itself.
    private let path: String

    init(_ members: [String: JSON], at path: String = "") {
        self.members = members
        self.path = path
    }

    subscript(name: String) -> JSON? { members[name] }

    func path(of name: String) -> String { path + name }

    /// Throws an error if the object has a member that is not defined.
    /// - Parameter known: The names of the defined members.
    func refuseOthers(than known: Set<String>) throws(ComposedMessageError) {
        guard let other = members.keys.filter({ !known.contains($0) }).min() else { return }
        throw .unknown(other, in: String(path.dropLast()))
    }

    /// Returns the value of a member; nil if the member is missing.
    /// - Parameters:
    ///   - rule: The end of the error's sentence, after "must be". The error is thrown if `read` does not accept the
    ///     value.
    ///   - read: Converts the member's JSON to the value; nil if the JSON is not valid for this member.
    func value<Value>(_ name: String, _ rule: String, _ read: (JSON) -> Value?) throws(ComposedMessageError) -> Value? {
        guard let member = members[name] else { return nil }
        guard let value = read(member) else { throw .bad(path(of: name), rule) }
        return value
    }

    func truth(_ name: String) throws(ComposedMessageError) -> Bool {
        try value(name, "true or false") { $0.bool } ?? false
    }

    /// Returns the text of a member; nil if the member is missing.
    /// - Parameter limit: The maximum size in bytes.
    /// - Throws: `ComposedMessageError`, also if the text is empty or has control characters.
    func text(_ name: String, limit: Int) throws(ComposedMessageError) -> String? {
        try value(name, Self.textRule(limit)) { $0.string.flatMap { Self.isText($0, limit: limit) ? $0 : nil } }
    }

    /// Returns a text for all devices, or texts by language; nil if the member is missing.
    /// - Parameter language: The message's own language. Texts by language must include a text in this language.
    func localizedText(
        _ name: String, limit: Int, language: LanguageTag?
    ) throws(ComposedMessageError) -> LocalizedText? {
        switch members[name] {
        case nil: return nil
        case .string(let text)?:
            guard Self.isText(text, limit: limit) else { throw .bad(path(of: name), Self.textRule(limit)) }
            return .plain(text)
        case .object(let texts)?: return try byLanguage(texts, of: path(of: name), limit: limit, language)
        default: throw .bad(path(of: name), "a text, or an object of texts by language")
        }
    }

    private func byLanguage(
        _ texts: [String: JSON], of path: String, limit: Int, _ language: LanguageTag?
    ) throws(ComposedMessageError) -> LocalizedText {
        guard let language else {
            throw ComposedMessageError(
                "The message's \(path) has languages, so the message needs the member language, for all other devices."
            )
        }
        guard texts.count <= ComposedMessage.Limit.languages else {
            throw .bad(path, "in at most \(ComposedMessage.Limit.languages) languages")
        }
        var tags: Set<LanguageTag> = []
        var found: [String: String] = [:]
        for (name, value) in texts.sorted(by: { $0.key < $1.key }) {
            guard let tag = LanguageTag(name) else {
                throw ComposedMessageError("The message's \(path) has '\(name.prefix(64))', which is no language tag.")
            }
            guard tags.insert(tag).inserted else {
                throw ComposedMessageError("The message's \(path) has the language '\(name)' twice.")
            }
            guard let text = value.string, Self.isText(text, limit: limit) else {
                throw .bad("\(path).\(name)", Self.textRule(limit))
            }
            found[name] = text
        }
        guard tags.contains(language) else {
            throw ComposedMessageError("The message's \(path) needs the message's own language, \(language).")
        }
        return .byLanguage(found)
    }

    /// Returns an absolute URL; nil if the member is missing.
    /// - Parameter schemes: The allowed schemes; nil for every scheme that is harmless on a device.
    func address(_ name: String, schemes: Set<String>? = nil) throws(ComposedMessageError) -> String? {
        let rule =
            schemes.map { "an absolute \($0.sorted().joined(separator: " or ")) address" }
            ?? "an absolute address, without javascript:, data:, file: or vbscript:"
        return try value(name, "\(rule), of at most \(MessageAddress.limit) bytes") { member in
            member.string.flatMap { MessageAddress.isAllowed($0, schemes: schemes) ? $0 : nil }
        }
    }

    static func textRule(_ limit: Int) -> String {
        "a text of 1 to \(ComposedMessage.grouped(limit)) bytes without control characters"
    }

    /// Returns true if a text has 1 to `limit` bytes, and only characters that every platform can show.
    static func isText(_ text: String, limit: Int) -> Bool {
        (1...limit).contains(text.utf8.count) && ShownText.isAllowed(text)
    }

    /// Returns true if a text consists of 1 to `limit` visible ASCII characters, and so can be the value of a header
    /// field.
    static func isVisibleASCII(_ text: String, limit: Int) -> Bool {
        (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

/// The rules for URLs in messages: absolute URIs (RFC 3986, section 4.3).
enum MessageAddress {
    /// The maximum length in bytes.
    static let limit = 2048
    /// The schemes of URLs that run a script or read data of the device.
    private static let refused: Set<String> = ["javascript", "data", "file", "vbscript"]

    /// Returns true if a text is an absolute URL that a message may contain.
    /// - Parameter schemes: The allowed schemes in lower case; nil for all except `refused`.
    static func isAllowed(_ text: String, schemes: Set<String>?) -> Bool {
        guard text.utf8.count <= limit, let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = text[..<colon].lowercased()
        guard let first = scheme.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first),
            scheme.utf8.allSatisfy(isSchemeByte), text[colon...].utf8.count > 1
        else { return false }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !#""<>\^`{|}"#.utf8.contains($0) }) else {
            return false
        }
        guard let schemes else { return !refused.contains(scheme) }
        return schemes.contains(scheme) && text[colon...].hasPrefix("://") && text[colon...].utf8.count > 3
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"),
            UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
