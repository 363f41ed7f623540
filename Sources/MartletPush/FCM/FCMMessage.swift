import MartletCore
import MartletHTTP
import MartletModel

/// The body of a request without its device, and what must hold of it (PushServices.md, sections 2.2 to 2.4).
enum FCMMessage {
    /// The largest payload, in bytes of names and values.
    static let sizeLimit = 4096
    /// The longest that the service keeps a message: four weeks.
    static let timeToLiveLimit = 2_419_200
    /// Who a message is for; here the hub says so.
    static let targetNames: Set<String> = ["token", "topic", "condition", "fid", "name"]

    /// What every canonical body begins with.
    private static let opening = Array(#"{"message":{"#.utf8)
    private static let token = Array(#""token":""#.utf8)

    /// A body with its message at the beginning, so that the device's token can be put there.
    /// - Parameters:
    ///   - content: The message.
    ///   - options: What else is in the envelope.
    static func canonical(_ content: [String: JSON], options: [String: JSON] = [:]) -> [UInt8] {
        var body = Array(#"{"message":"#.utf8) + JSON.object(content).bytes
        let rest = JSON.object(options).bytes
        if options.isEmpty { body.append(UInt8(ascii: "}")) } else { body += [UInt8(ascii: ",")] + rest.dropFirst() }
        return body
    }

    static func isCanonical(_ body: [UInt8]) -> Bool { body.starts(with: opening) }

    /// Writes a canonical body with a device's token in it.
    /// - Parameter handle: Printable ASCII.
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

    /// - Parameter content: The message.
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

    /// Names of data that the service refuses; the wider of two wordings of its documentation.
    static func isReserved(_ name: String) -> Bool {
        ["from", "message_type", "notification"].contains(name) || name.hasPrefix("google") || name.hasPrefix("gcm")
    }

    /// A duration such as `3.5s` in whole seconds; nil for one that cannot be read, or is longer than there can be.
    static func timeToLive(_ text: String) -> Int? {
        guard text.hasSuffix("s") else { return nil }
        let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let seconds = Int(parts[0]), (0...timeToLiveLimit).contains(seconds)
        else { return nil }
        return seconds
    }

    /// What devices receive: data, of which Android's own has precedence, and the notification.
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
