/// A header value with parameters, such as `multipart/mixed; boundary="x"` (RFC 9110, section 5.6.6). Spaces around the
/// equals sign are accepted, because the JavaScript SDK of Azure Notification Hubs writes them
/// (Docs/Specs/NotificationHubs.md).
public struct HeaderParameters: Sendable {
    /// The value before the first semicolon, in lower case.
    public let value: String
    /// The parameters, keyed by their names in lower case.
    private var parameters: [String: String] = [:]

    /// Parses a header value.
    /// - Returns: Nil if a quoted string does not end, a parameter has no name or value, or a name occurs twice.
    public init?(_ text: String) {
        var scanner = Scanner(rest: text[...])
        value = scanner.upTo(";").lowercased()
        while scanner.skip(";") {
            scanner.skipSpace()
            if scanner.rest.isEmpty { break }
            let name = scanner.upTo("=", ";").lowercased()
            guard !name.isEmpty, scanner.skip("="), let value = scanner.value(), parameters[name] == nil else {
                return nil
            }
            parameters[name] = value
        }
        guard scanner.rest.isEmpty else { return nil }
    }

    /// The value of a parameter; nil if the header value has no such parameter.
    /// - Parameter name: The name in lower case.
    public subscript(name: String) -> String? { parameters[name] }

    private struct Scanner {
        var rest: Substring

        mutating func skip(_ character: Character) -> Bool {
            guard rest.first == character else { return false }
            rest.removeFirst()
            return true
        }

        mutating func skipSpace() {
            while rest.first == " " || rest.first == "\t" { rest.removeFirst() }
        }

        /// Returns the text before the next of the given characters, without surrounding whitespace.
        mutating func upTo(_ ends: Character...) -> Substring {
            skipSpace()
            var text = rest.prefix { !ends.contains($0) }
            rest = rest[text.endIndex...]
            while text.last == " " || text.last == "\t" { text.removeLast() }
            return text
        }

        /// Returns a token or a quoted string; nil if the token is empty or the string has no closing quote.
        mutating func value() -> String? {
            skipSpace()
            guard skip("\"") else {
                let token = upTo(";")
                return token.isEmpty ? nil : String(token)
            }
            var text = ""
            while let character = rest.popFirst() {
                switch character {
                case "\"":
                    skipSpace()
                    return text
                case "\\":
                    guard let escaped = rest.popFirst() else { return nil }
                    text.append(escaped)
                default: text.append(character)
                }
            }
            return nil
        }
    }
}
