public import MartletCore

/// The rules that say which roles the values of a claim give, such as `admin=ops, sender@shop=marketing`.
public struct ProviderRoles: Hashable, Sendable {
    /// The reason why the text of the rules cannot be used.
    public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        public let description: String
    }

    private struct Rule: Hashable {
        let grant: RoleGrant
        let value: String
    }

    private let rules: [Rule]

    private static let countLimit = 100
    private static let valueLimit = 256

    /// Parses rules that are separated by commas. Each rule consists of a role, optionally followed by `@` and a hub,
    /// then `=` and a value of the claim. In a value, `\,` stands for a comma and `\\` for a backslash.
    public init(_ text: String) throws(Problem) {
        var rules: [Rule] = []
        for part in try Self.parts(of: text) {
            guard let equals = part.firstIndex(of: "=") else {
                throw Problem(description: "'\(part)' has no '=': write ROLE=VALUE, such as admin=ops.")
            }
            let (role, value) = (Self.trimmed(part[..<equals]), Self.trimmed(part[part.index(after: equals)...]))
            guard let grant = RoleGrant(role) else {
                throw Problem(
                    description: "'\(role)' is no role: write admin, sender or viewer, for all hubs or for one: "
                        + "sender@shop.")
            }
            guard !value.isEmpty, value.utf8.count <= Self.valueLimit else {
                throw Problem(description: "The value for '\(role)' must have 1 to \(Self.valueLimit) bytes.")
            }
            rules.append(Rule(grant: grant, value: value))
        }
        guard (1...Self.countLimit).contains(rules.count) else {
            throw Problem(description: "Give 1 to \(Self.countLimit) rules, such as 'admin=ops, sender=marketing'.")
        }
        self.rules = rules
    }

    /// Returns the roles of a person whose claim has these values; empty if no rule names one of the values.
    public func grants(for values: Set<String>) -> RoleGrants {
        RoleGrants(rules.filter { values.contains($0.value) }.map(\.grant))
    }

    /// Splits a text at its commas, except those after a backslash.
    private static func parts(of text: String) throws(Problem) -> [String] {
        var parts = [""]
        var isEscaped = false
        for character in text {
            if isEscaped {
                guard character == "," || character == "\\" else { throw backslash }
                parts[parts.count - 1].append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "," {
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        guard !isEscaped else { throw backslash }
        return parts
    }

    private static let backslash = Problem(
        description: "Write \\\\ for a backslash in a value, and \\, for a comma.")

    private static func trimmed(_ text: Substring) -> String {
        let front = text.drop { $0 == " " }
        return String(front.reversed().drop { $0 == " " }.reversed())
    }
}
