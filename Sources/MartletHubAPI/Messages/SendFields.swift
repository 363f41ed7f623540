import MartletHTTP

/// The headers of a send request that the protocol defines, collected in one pass.
struct SendFields {
    /// The format of the send. If the header is given twice, its values are joined with a comma. The joined text is not
    /// a valid format.
    private(set) var format: String?
    /// The tag expression. An empty expression is refused, because it is probably a mistake and not meant as a
    /// broadcast.
    private(set) var tags: String?
    private(set) var deviceHandle: String?
    private(set) var scheduleTime: String?
    /// The name of a header that was given twice, such as the header of the handle; nil if there is none. The headers
    /// of the format and of the tags are not recorded here, because their joined values are refused anyway.
    private(set) var repeated: String?
    /// True if a header requests a test send. The PyPI client uses a header for this (NotificationHubs.md, section
    /// 6.5).
    private(set) var isTest = false

    private var hasTest = false

    private static let prefix = "servicebusnotification-"

    init(_ fields: HTTPFields) {
        for field in fields where field.name.hasPrefix(Self.prefix) {
            switch Substring(field.name.utf8.dropFirst(Self.prefix.utf8.count)) {
            case "format": format = format.map { $0 + "," + field.value } ?? field.value
            // Repeated fields are joined with commas, as HTTP specifies. The result is not a valid expression, so the
            // request is refused.
            case "tags": tags = tags.map { $0 + "," + field.value } ?? field.value
            case "devicehandle":
                if deviceHandle != nil { repeated = "ServiceBusNotification-DeviceHandle" }
                deviceHandle = field.value
            case "scheduletime":
                if scheduleTime != nil { repeated = "ServiceBusNotification-ScheduleTime" }
                scheduleTime = field.value
            case "testsend":
                if hasTest { repeated = "ServiceBusNotification-TestSend" }
                (isTest, hasTest) = (field.value.lowercased() == "true", true)
            default: continue
            }
        }
    }
}
