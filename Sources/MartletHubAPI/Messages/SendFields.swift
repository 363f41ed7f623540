import MartletHTTP

/// The protocol's own headers of a send, found in one pass.
struct SendFields {
    private(set) var format: String?
    /// The tag expression. Present and empty is an error in the making, not a broadcast.
    private(set) var tags: String?
    private(set) var deviceHandle: String?
    private(set) var scheduleTime: String?
    /// One client asks for a test send with a header of its own.
    private(set) var isTest = false

    private static let prefix = "servicebusnotification-"

    init(_ fields: HTTPFields) {
        for field in fields where field.name.hasPrefix(Self.prefix) {
            switch Substring(field.name.utf8.dropFirst(Self.prefix.utf8.count)) {
            case "format": format = field.value
            // Two fields would be two expressions; joined as HTTP joins lists they are none, and are refused as that.
            case "tags": tags = tags.map { $0 + "," + field.value } ?? field.value
            case "devicehandle": deviceHandle = field.value
            case "scheduletime": scheduleTime = field.value
            case "testsend": isTest = field.value.lowercased() == "true"
            default: continue
            }
        }
    }
}
