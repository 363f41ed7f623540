import MartletCore
import MartletHTTP
import MartletModel

/// A send, parsed from its headers and body (NotificationHubs.md, sections 6.1 to 6.4).
struct SendRequest {
    let content: Notification.Content
    let target: Notification.Target
    /// The time at which the notification is sent; nil means at once.
    private(set) var dueAt: Timestamp?
    /// The time at which the notification expires; nil for the server's default.
    let expiry: Expiry?
    /// The roll-out of the notification; nil means as fast as possible.
    let rollout: Rollout?
    /// True for a test send, in which the caller waits for the outcomes.
    let isTest: Bool
    /// True if only the addressed devices may show the content.
    let isConfidential: Bool
    /// The due time as the request states it.
    private let scheduleTime: String?

    /// The maximum size of the body, in bytes.
    static let sizeLimit = 65_536

    /// Reads a send.
    /// - Parameter isDirect: True if the send goes to the handle in the request, not to registrations.
    init(_ call: HubCall, isDirect: Bool, platforms: PushPlatformList) throws(HubAPIError) {
        try self.init(call, isDirect: isDirect, isScheduled: false, platforms: platforms)
    }

    private init(
        _ call: HubCall, isDirect: Bool, isScheduled: Bool, platforms: PushPlatformList
    ) throws(HubAPIError) {
        let known = SendFields(call.request.fields)
        if !isScheduled { try Self.refuseScheduleTime(known) }
        let reader = try Reader(call.request, known, platforms)
        let format = try reader.format()
        content = try reader.content(format, body: call.request.body)
        expiry = try ExpiryHeader.read(from: call.request.fields)
        target = isDirect ? .direct([try reader.handle(format)]) : .audience(try reader.audience())
        isTest = !isScheduled && reader.isTest(call)
        rollout = try reader.rollout(isTest: isTest)
        isConfidential = try reader.isConfidential()
        scheduleTime = known.scheduleTime
    }

    /// Reads a scheduled send. A scheduled send is never a test send, even if the request has the flag `test`, because
    /// the .NET client can add that flag to every request (NotificationHubs.md, section 6.5).
    /// - Throws: `HubAPIError`, also if the schedule time is missing or invalid.
    init(scheduled call: HubCall, isDirect: Bool, platforms: PushPlatformList) throws(HubAPIError) {
        try self.init(call, isDirect: isDirect, isScheduled: true, platforms: platforms)
        guard let text = scheduleTime else {
            throw .badRequest("A scheduled notification needs the header ServiceBusNotification-ScheduleTime")
        }
        dueAt = try ScheduleTime.timestamp(text)
    }

    /// Reads a batch, which sends one message to many handles.
    init(batch call: HubCall, platforms: PushPlatformList) throws(HubAPIError) {
        let known = SendFields(call.request.fields)
        try Self.refuseScheduleTime(known)
        let reader = try Reader(call.request, known, platforms)
        let format = try reader.format()
        let batch = try DirectBatch(call.request.body, contentType: call.request.fields["content-type"])
        content = try reader.content(format, body: batch.message)
        expiry = try ExpiryHeader.read(from: call.request.fields)
        target = .direct(batch.devices.map { text in format.platform?.handle(from: text) ?? PushHandle(text) })
        isTest = reader.isTest(call)
        rollout = try reader.rollout(isTest: isTest)
        isConfidential = try reader.isConfidential()
        scheduleTime = nil
    }

    /// Returns true if the send is a dry run.
    /// - Throws: `HubAPIError` if a query item looks like a misspelled `dryRun`. Such a request is not sent, because a
    ///   send cannot be undone.
    static func isDryRun(_ call: HubCall) throws(HubAPIError) -> Bool {
        let meant = call.match.target.query.first { item in
            item.resembles("dryRun") && item.name.lowercased() != "dryrun"
        }
        if let meant {
            throw .badRequest("The query item '\(meant.name)' is spelled dryRun; nothing was sent")
        }
        return call.match.target.flag("dryRun")
    }

    /// Refuses a schedule time on a send that is not scheduled.
    private static func refuseScheduleTime(_ fields: SendFields) throws(HubAPIError) {
        guard fields.scheduleTime == nil else {
            throw .badRequest("ServiceBusNotification-ScheduleTime is for POST /{hub}/schedulednotifications")
        }
    }
}

/// Reads the headers of a send.
private struct Reader {
    /// The format of a send: the native format of one platform, or one of the two formats that are for all platforms.
    enum Format {
        case native(any PushPlatform.Type)
        case template
        case message

        var platform: (any PushPlatform.Type)? {
            switch self {
            case .native(let platform): platform
            case .template, .message: nil
            }
        }
    }

    private let known: SendFields
    private let fields: HTTPFields
    private let platforms: PushPlatformList

    init(_ request: HTTPRequest, _ known: SendFields, _ platforms: PushPlatformList) throws(HubAPIError) {
        self.known = known
        if let name = known.repeated { throw .badRequest("\(name) must be there once") }
        fields = request.fields
        self.platforms = platforms
    }

    /// Returns true for a test send. A test send is requested with a header, or with the query item `test`, which the
    /// .NET client can add to every request (NotificationHubs.md, section 1.5).
    func isTest(_ call: HubCall) -> Bool { known.isTest || call.match.target.flag("test") }

    func rollout(isTest: Bool) throws(HubAPIError) -> Rollout? {
        let rollout = try RolloutHeader.read(from: fields)
        guard !isTest || rollout == nil else {
            throw .badRequest("A test goes out at once, to at most ten devices: leave out Martlet-Rollout")
        }
        return rollout
    }

    func isConfidential() throws(HubAPIError) -> Bool {
        switch fields.values(of: "martlet-confidential").map({ $0.lowercased() }) {
        case [], ["false"]: return false
        case ["true"]: return true
        default: throw .badRequest("Martlet-Confidential must be true or false, once")
        }
    }

    /// Returns the format of the send. If the format header is missing, the format is that of the only platform whose
    /// own headers are in the request: the Java client omits the format header when its caller sets headers of its own
    /// (NotificationHubs.md, section 6.1).
    func format() throws(HubAPIError) -> Format {
        guard let format = known.format else {
            let meant = platforms.filter { !passedOn($0.descriptor).isEmpty }
            guard meant.count == 1 else { throw .badFormat("", allowed: allowed) }
            return .native(meant[0])
        }
        if format.lowercased() == "template" { return .template }
        if format.lowercased() == "message" { return .message }
        guard let platform = platforms.format(format) else { throw .badFormat(format, allowed: allowed) }
        return .native(platform)
    }

    func content(_ format: Format, body: [UInt8]) throws(HubAPIError) -> Notification.Content {
        switch format {
        case .native(let platform):
            return .native(platform.descriptor.platform, Message(body: body, fields: passedOn(platform.descriptor)))
        case .template: return .template(properties: body)
        case .message:
            do throws(ComposedMessageError) {
                return .message(try ComposedContent(body))
            } catch {
                throw error.isTooLarge ? .tooLarge(error.description) : .badRequest(error.description)
            }
        }
    }

    func audience() throws(HubAPIError) -> TagExpression? {
        if known.deviceHandle != nil {
            throw .badRequest("ServiceBusNotification-DeviceHandle is for direct sends: add &direct to the query")
        }
        guard let text = known.tags else { return nil }
        do throws(TagExpressionError) {
            return try TagExpression(text)
        } catch {
            throw .badRequest(error.description)
        }
    }

    /// Returns the handle of a direct send. The handle header contains either the whole handle, as one text in the form
    /// of the platform, or only the first part. In the second case, each further part is in a header with the name of
    /// its element.
    func handle(_ format: Format) throws(HubAPIError) -> PushHandle {
        guard let text = known.deviceHandle, !text.isEmpty else {
            throw .badRequest("A direct send needs the header ServiceBusNotification-DeviceHandle")
        }
        guard let platform = format.platform else { return PushHandle(text) }
        let further = platform.descriptor.registration.handleElements.dropFirst()
        guard further.contains(where: { fields[$0.lowercased()] != nil }) else { return platform.handle(from: text) }
        var parts = [text]
        for element in further {
            guard let part = fields[element.lowercased()], !part.isEmpty else {
                throw .badRequest("A direct send to this platform needs the header \(element)")
            }
            parts.append(part)
        }
        return PushHandle(parts: parts)
    }

    private var allowed: [String] { platforms.map { $0.descriptor.format } + ["template", "message"] }

    private func passedOn(_ descriptor: PushPlatformDescriptor) -> [String: String] {
        var passed: [String: String] = [:]
        for field in fields where descriptor.fieldPrefixes.contains(where: field.name.hasPrefix) {
            passed[field.name] = field.value
        }
        return passed
    }
}
