extension ComposedMessage {
    /// The limits of a message. A limit for a text is in bytes of UTF-8. A limit for an array or object is a number of
    /// elements. `badge` is the highest number of a badge.
    public enum Limit {
        /// The maximum size of the JSON form, in bytes.
        public static let body = 65_536
        static let title = 1024
        static let text = 16_384
        static let languages = 40
        static let variables = 20
        static let data = 32
        /// The maximum size of all names and values of `data` together.
        static let dataBytes = 4096
        static let actions = 3
        /// The maximum size of `thread` and of `collapse`.
        static let key = 64
        static let badge = 99_999
        static let headers = 20
        static let headerBytes = 1024
    }

    private static let known: Set<String> = [
        "title", "subtitle", "text", "language", "variables", "link", "picture", "sound", "badge", "data", "actions",
        "priority", "thread", "collapse", "silent", "truncate", "platforms",
    ]
    /// The members that a silent message may have.
    private static let silentMembers: Set<String> = ["silent", "data", "collapse", "platforms"]

    /// Creates a message from its JSON form, and checks it.
    /// - Throws: `ComposedMessageError` that names the first invalid member.
    public init(parsing body: [UInt8]) throws(ComposedMessageError) {
        guard body.count <= Limit.body else {
            throw ComposedMessageError(
                "The message has \(Self.grouped(body.count)) bytes and may have \(Self.grouped(Limit.body)).",
                isTooLarge: true)
        }
        let json: JSON
        do throws(JSONError) {
            json = try JSON(parsing: body, maximumDepth: 32)
        } catch {
            throw ComposedMessageError("The message must be a JSON object. \(error)")
        }
        try self.init(json)
    }

    /// Creates a message from its JSON form as a tree, and checks it.
    /// - Throws: `ComposedMessageError` that names the first invalid member.
    public init(_ json: JSON) throws(ComposedMessageError) {
        guard case .object(let object) = json else { throw ComposedMessageError("The message must be a JSON object.") }
        let members = MessageMembers(object)
        try members.refuseOthers(than: Self.known)
        language = try members.value("language", "a language tag such as de or pt-BR") { member in
            member.string.flatMap { LanguageTag($0) }?.spelling
        }
        let own = language.flatMap { LanguageTag($0) }
        title = try members.localizedText("title", limit: Limit.title, language: own)
        subtitle = try members.localizedText("subtitle", limit: Limit.title, language: own)
        text = try members.localizedText("text", limit: Limit.text, language: own)
        link = try members.address("link")
        picture = try members.address("picture", schemes: ["https"])
        sound = try members.value("sound", "default, none, or a name of 1 to 64 of A-Z a-z 0-9 . _ -", Self.sound)
        badge = try members.value("badge", "a number from 0 to \(Self.grouped(Limit.badge)), or \"+1\"", Self.badge)
        priority = try members.value("priority", "low, normal or high") { member in
            member.string.flatMap { Priority(rawValue: $0) }
        }
        thread = try members.value("thread", Self.keyRule, Self.key)
        collapse = try members.value("collapse", Self.keyRule, Self.key)
        isSilent = try members.truth("silent")
        isTruncated = try members.truth("truncate")
        variables = try Self.variables(members)
        data = try Self.data(members)
        actions = try Self.actions(members, own)
        platforms = try Self.platforms(members)
        try check(object)
    }

    /// Checks the rules that involve several members.
    private func check(_ object: [String: JSON]) throws(ComposedMessageError) {
        if isSilent, let shown = object.keys.filter({ !Self.silentMembers.contains($0) }).min() {
            throw ComposedMessageError("The message is silent, so it can only have data, and no \(shown).")
        }
        let hasPayload = platforms.values.contains { if case .payload = $0 { true } else { false } }
        guard title != nil || text != nil || isSilent || hasPayload else {
            throw ComposedMessageError("The message needs a title or a text, or must be silent.")
        }
        guard languages.count <= Limit.languages else {
            throw ComposedMessageError("The message has \(languages.count) languages and may have \(Limit.languages).")
        }
        // Without variables, `$(…)` is plain text, such as a line of a shell script.
        guard !variables.isEmpty else { return }
        let declared = Set(variables.keys.map { $0.lowercased() })
        for (name, text) in [("title", title), ("subtitle", subtitle), ("text", text)] {
            for used in (text?.texts ?? []).flatMap(MessageVariables.names) where !declared.contains(used.lowercased())
            {
                throw ComposedMessageError(
                    "The message's \(name) uses $(\(used)), so variables must have a default for devices without a value."
                )
            }
        }
    }

    // MARK: Members

    private static let keyRule = "1 to \(Limit.key) visible ASCII characters without spaces"

    private static func key(_ member: JSON) -> String? {
        member.string.flatMap { MessageMembers.isVisibleASCII($0, limit: Limit.key) ? $0 : nil }
    }

    private static func sound(_ member: JSON) -> Sound? {
        switch member.string {
        case "default"?: .default
        case "none"?: Sound.none
        case let name? where isWord(name, "._-", limit: 64): .named(name)
        default: nil
        }
    }

    private static func badge(_ member: JSON) -> Badge? {
        if member == "+1" { return .increment }
        return member.integer.flatMap { (0...Int64(Limit.badge)).contains($0) ? .number(Int($0)) : nil }
    }

    private static func variables(_ members: MessageMembers) throws(ComposedMessageError) -> [String: String] {
        guard let member = members["variables"] else { return [:] }
        guard let object = member.object, object.count <= Limit.variables else {
            throw .bad("variables", "an object of at most \(Limit.variables) texts")
        }
        var (variables, folded): ([String: String], Set<String>) = ([:], [])
        for (name, value) in object.sorted(by: { $0.key < $1.key }) {
            guard MessageVariables.isName(name) else {
                throw ComposedMessageError(
                    "The message's variables have the name '\(name.prefix(64))'; a name is 1 to 64 of A-Z a-z 0-9 _.")
            }
            guard folded.insert(name.lowercased()).inserted else {
                throw ComposedMessageError("The message's variables have the name '\(name)' twice.")
            }
            // An empty default is allowed, so that "$(greeting) half price" works without a greeting.
            guard let text = value.string, text.isEmpty || MessageMembers.isText(text, limit: Limit.title) else {
                throw .bad(
                    "variables.\(name)", "a text of at most \(grouped(Limit.title)) bytes without control characters")
            }
            variables[name] = text
        }
        return variables
    }

    private static func data(_ members: MessageMembers) throws(ComposedMessageError) -> [String: String] {
        guard let member = members["data"] else { return [:] }
        guard let object = member.object, object.count <= Limit.data else {
            throw .bad("data", "an object of at most \(Limit.data) texts")
        }
        var data: [String: String] = [:]
        for (name, value) in object.sorted(by: { $0.key < $1.key }) {
            guard MessageVariables.isName(name) else {
                throw ComposedMessageError(
                    "The message's data has the name '\(name.prefix(64))'; a name is 1 to 64 of A-Z a-z 0-9 _.")
            }
            guard !PayloadName.includes(name) else { throw reserved(name) }
            guard let text = value.string else { throw .bad("data.\(name)", "a text") }
            data[name] = text
        }
        guard data.reduce(0, { $0 + $1.key.utf8.count + $1.value.utf8.count }) <= Limit.dataBytes else {
            throw .bad("data", "at most \(grouped(Limit.dataBytes)) bytes of names and texts")
        }
        return data
    }

    /// Returns the error for a name in `data` that is reserved, because Martlet uses it in payloads.
    public static func reserved(_ name: String) -> ComposedMessageError {
        ComposedMessageError("The message's data has the name '\(name)', which is reserved for payloads.")
    }

    private static func actions(
        _ members: MessageMembers, _ language: LanguageTag?
    ) throws(ComposedMessageError) -> [Action] {
        guard let member = members["actions"] else { return [] }
        guard let array = member.array, array.count <= Limit.actions else {
            throw .bad("actions", "an array of at most \(Limit.actions) actions")
        }
        var actions: [Action] = []
        for (index, element) in array.enumerated() {
            guard let object = element.object else { throw .bad("actions[\(index)]", "an object with id and title") }
            let members = MessageMembers(object, at: "actions[\(index)].")
            try members.refuseOthers(than: ["id", "title", "link"])
            let id = try members.value("id", "1 to 32 of A-Z a-z 0-9 _ -") { member in
                member.string.flatMap { isWord($0, "_-", limit: 32) ? $0 : nil }
            }
            guard let id, let title = try members.localizedText("title", limit: Limit.title, language: language) else {
                throw .bad("actions[\(index)]", "an object with id and title")
            }
            guard !actions.contains(where: { $0.id == id }) else {
                throw ComposedMessageError("The message has two actions with the id '\(id)'.")
            }
            actions.append(Action(id: id, title: title, link: try members.address("link")))
        }
        return actions
    }

    private static func isWord(_ text: String, _ marks: String, limit: Int) -> Bool {
        (1...limit).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: marks.utf8.contains(byte)
                }
            }
    }

    /// Formats a number for errors, with commas between thousands: `65,536`.
    public static func grouped(_ number: Int) -> String {
        let digits = Array(String(number))
        return digits.enumerated().reduce(into: "") { text, digit in
            if digit.offset > 0, (digits.count - digit.offset) % 3 == 0 { text.append(",") }
            text.append(digit.element)
        }
    }
}
