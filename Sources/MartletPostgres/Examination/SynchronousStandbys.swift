/// The standbys that must have received a commit before the server confirms the commit. They are read from the value of
/// `synchronous_standby_names`, such as `ANY 1 (db2, db3)`.
struct SynchronousStandbys: Equatable {
    /// The number of standbys that must have received a commit.
    var count: Int
    /// The names of the standbys in lower case, because PostgreSQL compares names case-insensitively. `*` stands for
    /// any standby.
    var names: [String]

    /// Reads a value that the server has accepted; nil if commits wait for no standby.
    init?(_ value: String) {
        let tokens = Self.tokens(of: value)
        guard !tokens.isEmpty else { return nil }
        let start = ["any", "first"].contains(tokens[0]) && tokens.count > 2 && tokens[2] == "(" ? 1 : 0
        if tokens.count > start + 1, tokens[start + 1] == "(", let number = Int(tokens[start]) {
            count = number
            names = tokens.dropFirst(start + 2).filter { $0 != ")" }
        } else {
            count = 1
            names = tokens
        }
    }

    /// Splits a value into names, numbers and parentheses. A name may be in quotes, within which `""` stands for one
    /// quote.
    private static func tokens(of value: String) -> [String] {
        var tokens: [String] = []
        var rest = value[...]
        while let first = rest.first {
            if first == "\"" {
                var name = ""
                rest.removeFirst()
                while let next = rest.popFirst() {
                    guard next == "\"" else {
                        name.append(next)
                        continue
                    }
                    guard rest.first == "\"" else { break }
                    name.append(rest.removeFirst())
                }
                tokens.append(name.lowercased())
            } else if first == "(" || first == ")" {
                tokens.append(String(rest.removeFirst()))
            } else if first == "," || first.isWhitespace {
                rest.removeFirst()
            } else {
                let word = rest.prefix { !$0.isWhitespace && !"(),".contains($0) }
                tokens.append(word.lowercased())
                rest = rest.dropFirst(word.count)
            }
        }
        return tokens
    }

    /// Returns whether a commit may wait for a standby with this name.
    func contains(_ name: String) -> Bool { names.contains("*") || names.contains(name.lowercased()) }

    /// Returns the configured names that none of the given standbys has.
    func missing(among standbys: [String]) -> [String] {
        let present = Set(standbys.map { $0.lowercased() })
        return names.filter { $0 != "*" && !present.contains($0) }
    }
}
