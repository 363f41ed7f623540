import MartletModel

/// One message for many handles: the body of `POST /{hub}/messages/$batch` (NotificationHubs.md, section 6.4).
struct DirectBatch {
    /// The maximum size of the body, in bytes: room for a message, and for the maximum number of handles in a batch,
    /// with about two kilobytes for each handle.
    static let sizeLimit = SendRequest.sizeLimit + 2 * 1_048_576
    static let deviceLimit = 1000

    /// The content of the part `notification`.
    let message: [UInt8]
    /// The handles in the part `devices`, at least one.
    let devices: [String]

    /// - Parameter contentType: The `Content-Type` header of the request.
    init(_ body: [UInt8], contentType: String?) throws(HubAPIError) {
        let parts = try MultipartBody(body, contentType: contentType).parts
        guard let message = parts["notification"], let devices = parts["devices"] else {
            throw .badRequest("A batch needs two parts, named notification and devices")
        }
        guard message.count <= SendRequest.sizeLimit else {
            throw .tooLarge("The notification is larger than \(SendRequest.sizeLimit) bytes")
        }
        self.message = Array(message)
        self.devices = try Self.handles(devices)
    }

    private static func handles(_ part: ArraySlice<UInt8>) throws(HubAPIError) -> [String] {
        let list = try? JSON(parsing: doubleQuoted(part), maximumDepth: 1)
        guard let elements = list?.array else {
            throw .badRequest("The part devices must be a JSON array of handles, such as [\"a\",\"b\"]")
        }
        guard (1...deviceLimit).contains(elements.count) else {
            throw .badRequest("A batch has 1 to \(deviceLimit) devices")
        }
        var handles: [String] = []
        handles.reserveCapacity(elements.count)
        for element in elements {
            guard let handle = element.string, !handle.isEmpty else {
                throw .badRequest("Each element of the part devices must be the text of a handle")
            }
            handles.append(handle)
        }
        return handles
    }

    /// Converts single-quoted JSON strings to double-quoted strings. Samples in the documentation of Azure Notification
    /// Hubs use single quotes (NotificationHubs.md, section 6.4).
    private static func doubleQuoted(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let single = UInt8(ascii: "'")
        let double = UInt8(ascii: "\"")
        let backslash = UInt8(ascii: "\\")
        guard text.contains(single) else { return Array(text) }
        var result: [UInt8] = []
        result.reserveCapacity(text.count + 16)
        var quote: UInt8?
        var isEscaped = false
        for byte in text {
            if isEscaped {
                isEscaped = false
                // The backslash is dropped before an apostrophe, because JSON has no escape for it.
                if byte != single { result.append(backslash) }
                result.append(byte)
            } else if byte == backslash, quote != nil {
                isEscaped = true
            } else if byte == quote {
                quote = nil
                result.append(double)
            } else if quote == nil, byte == single || byte == double {
                quote = byte
                result.append(double)
            } else {
                if byte == double { result.append(backslash) }
                result.append(byte)
            }
        }
        // Text that ends in a backslash is not valid JSON, and the conversion must not make it valid.
        return isEscaped ? [] : result
    }
}
