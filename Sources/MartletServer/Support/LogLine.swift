import MartletModel

/// One line of the log.
struct LogLine: Sendable {
    var time: Timestamp
    var level: Log.Level
    var message: String
    var fields: [String: JSON] = [:]

    /// Returns the bytes of the line, including the line end.
    /// - Parameter isJournaled: Whether the line begins with its priority, in the format that systemd's journal reads
    ///   (sd-daemon(3)).
    func bytes(_ format: Log.Format, isJournaled: Bool) -> [UInt8] {
        var bytes = isJournaled ? Array("<\(level.priority)>".utf8) : []
        switch format {
        case .json: bytes += json
        case .text: bytes += Array(text.utf8)
        }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private var json: [UInt8] {
        var line = fields
        line["time"] = .string(time.iso8601)
        line["level"] = .string(level.rawValue)
        line["message"] = .string(message)
        return JSON.object(line).bytes
    }

    /// The line as text, for example `2026-11-23T18:00:00.000Z warning: The disk is full. (free: 12)`. The text never
    /// contains a line break.
    private var text: String {
        let details = fields.sorted { $0.key < $1.key }.map { "\($0.key): \(Self.text($0.value))" }
        let suffix = details.isEmpty ? "" : " (\(details.joined(separator: ", ")))"
        return String("\(time.iso8601) \(level.rawValue): \(message)\(suffix)".map { $0.isNewline ? " " : $0 })
    }

    private static func text(_ value: JSON) -> String {
        value.string ?? String(decoding: value.bytes, as: UTF8.self)
    }
}
