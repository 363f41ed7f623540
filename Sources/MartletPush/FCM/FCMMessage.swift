import MartletCore
import MartletHTTP
import MartletModel

/// The body of a request without the device's token, and the rules for it (PushServices.md, sections 2.2 to 2.4).
enum FCMMessage {
    /// The maximum size of the payload, in bytes of names and values.
    static let sizeLimit = 4096
    /// The maximum time that the service stores a message, in seconds: four weeks.
    static let timeToLiveLimit = 2_419_200
    /// The members of a message that name its target.
    ///
    /// They are removed from a sender's message, because the hub sets the target.
    static let targetNames: Set<String> = ["token", "topic", "condition", "fid", "name"]

    /// The beginning of every canonical body.
    private static let opening = Array(#"{"message":{"#.utf8)
    private static let token = Array(#""token":""#.utf8)

    /// Writes a body in canonical form: the member `message` comes first, so that the device's token can be inserted at
    /// a fixed index.
    /// - Parameters:
    ///   - content: The message.
    ///   - options: The other members of the envelope.
    static func canonical(_ content: [String: JSON], options: [String: JSON] = [:]) -> [UInt8] {
        var body = Array(#"{"message":"#.utf8) + JSON.object(content).bytes
        let rest = JSON.object(options).bytes
        if options.isEmpty { body.append(UInt8(ascii: "}")) } else { body += [UInt8(ascii: ",")] + rest.dropFirst() }
        return body
    }

    static func isCanonical(_ body: [UInt8]) -> Bool { body.starts(with: opening) }

    /// Appends a canonical body to a buffer, with a device's token inserted at the beginning of the message.
    /// - Parameter handle: The token, in printable ASCII.
    static func append(_ body: [UInt8], to handle: UnsafeBufferPointer<UInt8>, to buffer: inout [UInt8]) {
        buffer += opening
        buffer += token
        if handle.allSatisfy(
            unlessEight: { $0.bytes(equalTo: UInt8(ascii: "\"")) | $0.bytes(equalTo: UInt8(ascii: "\\")) },
            or: { !mustBeEscaped($0) })
        {
            buffer += handle
        } else {
            for byte in handle {
                if mustBeEscaped(byte) { buffer.append(UInt8(ascii: "\\")) }
                buffer.append(byte)
            }
        }
        buffer.append(UInt8(ascii: "\""))
        let rest = body.dropFirst(opening.count)
        if rest.first != UInt8(ascii: "}") { buffer.append(UInt8(ascii: ",")) }
        buffer += rest
    }

    private static func mustBeEscaped(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    // MARK: Rules

    /// Checks the members and values of a message (PushServices.md, sections 2.2 to 2.4).
    /// - Parameter content: The message without its envelope.
    static func check(_ content: JSON) throws(PushServiceError) {
        for (name, part) in [
            ("notification", content["notification"]), ("android", content["android"]), ("apns", content["apns"]),
            ("webpush", content["webpush"]),
        ] {
            guard part.map({ $0.object != nil }) ?? true else {
                throw PushServiceError(.badMessage, "\"\(name)\" must be a JSON object.")
            }
        }
        for data in [content["data"], content["android"]?["data"]] {
            guard let data else { continue }
            guard let object = data.object, object.values.allSatisfy({ $0.string != nil }) else {
                throw PushServiceError(.badMessage, "\"data\" must be a JSON object whose values are texts.")
            }
            if let name = object.keys.sorted().first(where: isReserved) {
                throw PushServiceError(
                    .badMessage, "\"data\" has the name '\(name.prefix(64))', which the service keeps for itself.")
            }
        }
        if let text = content["android"]?["ttl"]?.string, timeToLive(text) == nil {
            throw PushServiceError(.badMessage, "The time to live must be 0 to \(timeToLiveLimit) seconds.")
        }
        let size = size(of: content)
        guard size <= sizeLimit else {
            throw PushServiceError(
                .messageTooLarge, "The payload has \(size) bytes in names and values; a message may have \(sizeLimit).")
        }
    }

    /// Returns whether the service refuses a name in `data`.
    ///
    /// Google's documentation has two versions of the rule; this is the broader one.
    static func isReserved(_ name: String) -> Bool {
        ["from", "message_type", "notification"].contains(name) || name.hasPrefix("google") || name.hasPrefix("gcm")
    }

    /// Parses a duration such as `3.5s` and returns its whole seconds, without the fraction. Returns nil if the text is
    /// not a duration, or if the whole seconds exceed `timeToLiveLimit`.
    static func timeToLive(_ text: String) -> Int? {
        guard text.hasSuffix("s") else { return nil }
        let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let seconds = Int(parts[0]), (0...timeToLiveLimit).contains(seconds)
        else { return nil }
        return seconds
    }

    /// Returns the size of the content that devices receive, in bytes: the notification and the data.
    ///
    /// A message may have data for all devices and other data for Android devices. Then only the larger of the two
    /// counts.
    static func size(of content: JSON) -> Int {
        let data = max(size(ofMembers: content["data"]), size(ofMembers: content["android"]?["data"]))
        return data + size(ofMembers: content["notification"])
    }

    private static func size(ofMembers object: JSON?) -> Int {
        (object?.object ?? [:]).reduce(0) { sum, member in
            sum + member.key.utf8.count + (member.value.string?.utf8.count ?? member.value.bytes.count)
        }
    }
}
