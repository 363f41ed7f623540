import MartletServer

/// A configuration file: a line `key = value` for each option that it sets. Empty lines and lines that begin with `#` are
/// passed over. One file may serve all commands, so keys that a command does not know are no error.
enum ConfigurationFile {
    static func read(_ path: String) throws -> [String: String] {
        try parse(String(decoding: try TextFile.read(path), as: UTF8.self), path: path)
    }

    static func parse(_ text: String, path: String) throws -> [String: String] {
        var values: [String: String] = [:]
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.trimmed
            guard let first = line.first, first != "#" else { continue }
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].trimmed.isEmpty else {
                throw ServerError("\(path), line \(number + 1): expected 'key = value'.")
            }
            values[String(parts[0].trimmed)] = String(parts[1].trimmed)
        }
        return values
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let start = drop { $0.isWhitespace }
        guard let end = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return start[...end]
    }
}
