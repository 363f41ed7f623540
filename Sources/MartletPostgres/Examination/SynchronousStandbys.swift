/// Which standbys must have a commit before it is answered: the value of `synchronous_standby_names`, such as
/// `ANY 1 (db2, db3)`.
struct SynchronousStandbys: Equatable {
    /// How many must have it.
    var count: Int
    /// Their names in lower case, because PostgreSQL compares without regard to case; `*` stands for any.
    var names: [String]

    /// Reads a value that the server has accepted; nil if commits wait for nobody.
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

    /// Names, numbers and parentheses. A name may stand in quotes, in which `""` is a quote.
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

    /// Whether a standby of this name counts.
    func contains(_ name: String) -> Bool { names.contains("*") || names.contains(name.lowercased()) }

    /// The names to which none of the given standbys answers.
    func missing(among standbys: [String]) -> [String] {
        let present = Set(standbys.map { $0.lowercased() })
        return names.filter { $0 != "*" && !present.contains($0) }
    }
}
