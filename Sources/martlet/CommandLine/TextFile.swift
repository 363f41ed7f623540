import Glibc
import MartletServer

/// Reads and writes files that the user names on the command line.
enum TextFile {
    /// Reads a file.
    /// - Parameter limit: The maximum size in bytes; a longer file is refused.
    static func read(_ path: String, limit: Int = 1 << 20) throws -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw ServerError("Cannot read \(path): \(String(cString: strerror(errno))).") }
        defer { close(file) }
        return try read(file, named: path, limit: limit)
    }

    private static func read(_ file: Int32, named path: String, limit: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = chunk.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
            guard count >= 0 else { throw ServerError("Cannot read \(path): \(String(cString: strerror(errno))).") }
            if count == 0 { return bytes }
            bytes += chunk.prefix(count)
            guard bytes.count <= limit else { throw ServerError("\(path) is larger than \(limit) bytes.") }
        }
    }
}

extension TextFile {
    /// Reads a file that must contain UTF-8 text, of at most 1 MiB.
    static func readText(_ path: String) throws -> String {
        guard let text = String(validating: try read(path), as: UTF8.self) else {
            throw ServerError("\(path) is no text in UTF-8.")
        }
        return text
    }
}

extension TextFile {
    private static let lineLimit = 65_536

    /// Reads a secret: the only line of a file, or of standard input if the path is `-`, without its line end.
    static func readLine(_ path: String, of option: Option) throws -> String {
        let bytes =
            path == "-"
            ? try read(STDIN_FILENO, named: "standard input", limit: lineLimit) : try read(path, limit: lineLimit)
        let line = String(validating: bytes, as: UTF8.self).map { $0.reversed().drop(while: \.isNewline).reversed() }
        guard let line, !line.isEmpty, !line.contains(where: \.isNewline) else {
            let name = path == "-" ? "Standard input" : path
            throw ServerError("\(name) must hold one line of text: the value of --\(option.name).")
        }
        return String(line)
    }
}

extension TextFile {
    static func write(_ text: String, to path: String) throws {
        let bytes = Array(text.utf8)
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw ServerError("Cannot write \(path): \(String(cString: strerror(errno))).") }
        defer { close(file) }
        guard Glibc.write(file, bytes, bytes.count) == bytes.count else {
            throw ServerError("Cannot write \(path): \(String(cString: strerror(errno))).")
        }
    }
}
