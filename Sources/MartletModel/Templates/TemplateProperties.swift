/// The body of a template notification: what its sender has to say, by name.
///
/// Names compare without regard to the case of ASCII letters.
public struct TemplateProperties: Hashable, Sendable {
    /// UTF-8 by folded name.
    private var values: [String: [UInt8]] = [:]

    /// - Parameter values: Of names that differ only in case the last by the order of Unicode counts.
    public init(_ values: [String: String] = [:]) {
        for (name, value) in values.sorted(by: { $0.key < $1.key }) { set(name, Array(value.utf8)) }
    }

    /// Reads one flat JSON object.
    ///
    /// A number or a boolean stands for the text that it is written with; `null` is as good as a missing property. Of
    /// names that differ only in case the last one counts, as it does for names that are written alike.
    /// - Throws: `TemplatePropertiesError`.
    public init(parsing body: [UInt8]) throws(TemplatePropertiesError) {
        guard body.count <= Self.sizeLimit else { throw .tooLarge }
        do throws(JSONError) { _ = try JSON(parsing: body) } catch { throw .notJSON(error) }
        try read(body)
    }

    /// The members of valid JSON, from the text itself: a number keeps the digits it came with.
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

    /// The property of this name, in any case; nil for a missing one.
    public subscript(name: String) -> String? {
        values[Self.folded(name.utf8)].map { String(decoding: $0, as: UTF8.self) }
    }

    /// - Parameter name: Folded.
    func bytes(of name: String) -> [UInt8]? { values[name] }

    /// The most bytes of a body, the original hub's.
    public static let sizeLimit = 65_536
    /// The most characters of a name in an expression.
    static let nameLimit = 120

    static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// A name in the one case by which names compare. Letters beyond ASCII stay: no expression can name them.
    static func folded(_ name: some Sequence<UInt8>) -> String {
        String(decoding: name.map(foldedByte), as: UTF8.self)
    }

    static func foldedByte(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
