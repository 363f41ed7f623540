import Glibc
public import MartletModel

/// The log: one JSON object per line on standard error.
public struct Log: Sendable {
    public enum Level: String, Sendable {
        case info
        case warning
        case error
    }

    public init() {}

    /// - Parameters:
    ///   - message: A sentence without secrets, tokens, handles and payloads.
    ///   - fields: What a machine may want to look for.
    public func write(_ level: Level, _ message: String, _ fields: [String: JSON] = [:]) {
        var line = fields
        line["time"] = .string(SystemTime().now.iso8601)
        line["level"] = .string(level.rawValue)
        line["message"] = .string(message)
        var bytes = JSON.object(line).bytes
        bytes.append(UInt8(ascii: "\n"))
        // One call per line, so that lines of several threads do not mix; a log that cannot be written is no reason to
        // stop working.
        _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
