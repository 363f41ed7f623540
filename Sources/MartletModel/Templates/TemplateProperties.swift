/// The body of a template notification: its properties, keyed by name.
///
/// Names are compared ignoring the case of ASCII letters.
public struct TemplateProperties: Hashable, Sendable {
    /// The values in UTF-8, keyed by name with ASCII letters in lower case.
    private var values: [String: [UInt8]] = [:]

    /// Creates properties from a dictionary of texts, keyed by name.
    /// - Parameter values: The properties. If names differ only in case, the value of the last name in Unicode order is
    ///   used.
    public init(_ values: [String: String] = [:]) {
        for (name, value) in values.sorted(by: { $0.key < $1.key }) { set(name, Array(value.utf8)) }
    }

    /// Parses one flat JSON object.
    ///
    /// A number or Boolean is kept as its text; a property that is `null` is treated as missing. If names are equal or
    /// differ only in case, the last value is used.
    /// - Throws: `TemplatePropertiesError`.
    public init(parsing body: [UInt8]) throws(TemplatePropertiesError) {
        guard body.count <= Self.sizeLimit else { throw .tooLarge }
        do throws(JSONError) { _ = try JSON(parsing: body) } catch { throw .notJSON(error) }
        try read(body)
    }

    /// Reads the members from the tokens of a valid JSON text instead of from a tree, so that a number keeps its
    /// digits.
    private mutating func read(_ body: [UInt8]) throws(TemplatePropertiesError) {
        var tokens = JSONTokens(body)
        guard tokens.next() == .punctuation(UInt8(ascii: "{")) else { throw .notAnObject }
        var name: String?
        while let token = tokens.next() {
            switch token {
            case .string(let range):
                let text = JSONTokens.text(of: body[range])
                if let given = name.take() { set(given, Array(text.utf8)) } else { name = text }
            case .word(let range):
                guard let given = name.take() else { continue }
                set(given, body[range].first == UInt8(ascii: "n") ? nil : Array(body[range]))
            case .punctuation(UInt8(ascii: "{")), .punctuation(UInt8(ascii: "[")): throw .nested(name ?? "")
            case .punctuation: continue
            }
        }
    }

    private mutating func set(_ name: String, _ value: [UInt8]?) {
        values[Self.folded(name.utf8)] = value
    }

    /// The names of the properties, in lower case.
    public var names: Set<String> { Set(values.keys) }

    /// The property with a name, ignoring case; nil if the property is missing.
    public subscript(name: String) -> String? {
        values[Self.folded(name.utf8)].map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the value of a property in UTF-8; nil if the property is missing.
    /// - Parameter name: The name, with ASCII letters in lower case.
    func bytes(of name: String) -> [UInt8]? { values[name] }

    /// The maximum size of a body in bytes, as in Azure Notification Hubs.
    public static let sizeLimit = 65_536
    /// The maximum length of a name in an expression, in characters.
    static let nameLimit = 120

    static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Returns a name in lower case, which is the form in which names are compared. Non-ASCII letters are not changed,
    /// because expressions cannot contain them in names.
    static func folded(_ name: some Sequence<UInt8>) -> String {
        String(decoding: name.map(foldedByte), as: UTF8.self)
    }

    static func foldedByte(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
