/// A configuration file with one line `key = value` for each setting. ` #` begins a comment, and quotes around a value
/// are removed. One file may serve all commands, so a key of another command is not an error.
enum ConfigurationFile {
    struct Setting: Hashable {
        let value: String
        /// The number of the setting's line, from 1.
        let line: Int
    }

    /// Reads a configuration file.
    /// - Parameter settings: The names of the settings of all commands.
    static func read(_ path: String, settings: Set<String>) throws -> [String: Setting] {
        try parse(try TextFile.readText(path), path: path, settings: settings)
    }

    static func parse(_ text: String, path: String, settings: Set<String>) throws(UsageError) -> [String: Setting] {
        var values: [String: Setting] = [:]
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let number = index + 1
            do throws(Problem) {
                guard let (key, value) = try setting(line, settings) else { continue }
                if let earlier = values[key] { throw Problem("'\(key)' is set already in line \(earlier.line).") }
                values[key] = Setting(value: value, line: number)
            } catch {
                throw UsageError(
                    description: "\(path), line \(number): \(error.sentence)",
                    hint: "'martlet config example' prints every setting.")
            }
        }
        return values
    }

    private struct Problem: Error {
        let sentence: String
        init(_ sentence: String) { self.sentence = sentence }
    }

    /// Parses a line.
    /// - Returns: nil if the line is empty or a comment.
    private static func setting(
        _ line: Substring, _ settings: Set<String>
    ) throws(Problem) -> (key: String, value: String)? {
        let line = line.trimmed
        guard let first = line.first, first != "#" else { return nil }
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].trimmed.isEmpty else { throw Problem("expected 'key = value'.") }
        let key = String(parts[0].trimmed)
        guard settings.contains(key) else {
            throw Problem("no command has a setting '\(key)'.\(Spelling.question(key, settings))")
        }
        let value = try value(parts[1].trimmed)
        guard !value.isEmpty else { throw Problem("'\(key)' has no value: give one, or remove the line.") }
        return (key, value)
    }

    private static func value(_ text: Substring) throws(Problem) -> String {
        guard let quote = text.first, quote == "\"" || quote == "'" else { return withoutComment(text) }
        let rest = text.dropFirst()
        guard let end = rest.firstIndex(of: quote) else { throw Problem("a quote is not closed.") }
        let following = rest[rest.index(after: end)...].trimmed
        guard following.isEmpty || following.first == "#" else {
            throw Problem("there is text after the closing quote.")
        }
        return String(rest[..<end])
    }

    /// Removes a comment. A number sign begins a comment only after white space, because URLs can contain one.
    private static func withoutComment(_ text: Substring) -> String {
        var previous: Character = " "
        for index in text.indices {
            if text[index] == "#", previous.isWhitespace { return String(text[..<index].trimmed) }
            previous = text[index]
        }
        return String(text)
    }
}

extension Substring {
    /// The text without white space at its ends, and without a byte order mark.
    fileprivate var trimmed: Substring {
        let start = drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        guard let end = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return start[...end]
    }
}
