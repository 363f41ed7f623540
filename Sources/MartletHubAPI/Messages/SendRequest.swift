import MartletCore
import MartletHTTP
import MartletModel

/// A send, read from its headers and body (NotificationHubs.md, sections 6.1 to 6.4).
struct SendRequest {
    let content: Notification.Content
    let target: Notification.Target
    /// When it is to go out; nil: at once.
    private(set) var dueAt: Timestamp?
    /// When it is given up; nil: when the hub usually does.
    let expiry: Expiry?
    /// How fast it goes out; nil: as fast as it can.
    let rollout: Rollout?
    /// Whether it asks for the outcomes while it waits.
    let isTest: Bool
    /// Whether nobody is to be shown its content but the devices that it is for.
    let isConfidential: Bool

    /// The largest body in bytes.
    static let sizeLimit = 65_536

    /// - Parameter isDirect: Whether it goes to the handle that it names, and not to registrations.
    init(_ call: HubCall, isDirect: Bool, platforms: PushPlatformList) throws(HubAPIError) {
        let reader = Reader(call.request, platforms)
        let format = try reader.format()
        content = reader.content(format, body: call.request.body)
        expiry = try ExpiryHeader.read(from: call.request.fields)
        target = isDirect ? .direct([try reader.handle(format)]) : .audience(try reader.audience())
        rollout = try RolloutHeader.read(from: call.request.fields)
        isTest = reader.isTest(call)
        isConfidential = try reader.isConfidential()
    }

    /// One that waits for its time.
    init(scheduled call: HubCall, isDirect: Bool, platforms: PushPlatformList) throws(HubAPIError) {
        try self.init(call, isDirect: isDirect, platforms: platforms)
        guard let text = SendFields(call.request.fields).scheduleTime else {
            throw .badRequest("A scheduled notification needs the header ServiceBusNotification-ScheduleTime")
        }
        dueAt = try ScheduleTime.timestamp(text)
    }

    /// One message to many handles.
    init(batch call: HubCall, platforms: PushPlatformList) throws(HubAPIError) {
        let reader = Reader(call.request, platforms)
        let format = try reader.format()
        let batch = try DirectBatch(call.request.body, contentType: call.request.fields["content-type"])
        content = reader.content(format, body: batch.message)
        expiry = try ExpiryHeader.read(from: call.request.fields)
        target = .direct(batch.devices.map { text in format.platform?.handle(from: text) ?? PushHandle(text) })
        rollout = try RolloutHeader.read(from: call.request.fields)
        isTest = reader.isTest(call)
        isConfidential = try reader.isConfidential()
    }

    /// Whether it is to be tried and not sent.
    /// - Throws: Where that may have been meant: what is sent cannot be taken back.
    static func isDryRun(_ call: HubCall) throws(HubAPIError) -> Bool {
        let meant = call.match.target.query.first { item in
            // Letters are known by tables, and hardly a name has this one.
            item.name.utf8.contains { $0 | 0x20 == UInt8(ascii: "y") } && item.name.lowercased() != "dryrun"
                && item.name.lowercased().filter(\.isLetter) == "dryrun"
        }
        if let meant {
            throw .badRequest("The query item '\(meant.name)' is spelled dryRun; nothing was sent")
        }
        return call.match.target.flag("dryRun")
    }

    /// What is sent now must not have been meant for later.
    static func refuseScheduleTime(_ call: HubCall) throws(HubAPIError) {
        guard SendFields(call.request.fields).scheduleTime == nil else {
            throw .badRequest("ServiceBusNotification-ScheduleTime is for POST /{hub}/schedulednotifications")
        }
    }
}

/// Reads the headers of a send.
private struct Reader {
    /// What a body is.
    enum Format {
        case native(any PushPlatform.Type)
        case template

        var platform: (any PushPlatform.Type)? {
            switch self {
            case .native(let platform): platform
            case .template: nil
            }
        }
    }

    private let known: SendFields
    private let fields: HTTPFields
    private let platforms: PushPlatformList

    init(_ request: HTTPRequest, _ platforms: PushPlatformList) {
        known = SendFields(request.fields)
        fields = request.fields
        self.platforms = platforms
    }

    /// A test flag is known by its query, in which one client repeats it on every request, or by a header.
    func isTest(_ call: HubCall) -> Bool { known.isTest || call.match.target.flag("test") }

    func isConfidential() throws(HubAPIError) -> Bool {
        switch fields.values(of: "martlet-confidential").map({ $0.lowercased() }) {
        case [], ["false"]: return false
        case ["true"]: return true
        default: throw .badRequest("Martlet-Confidential must be true or false, once")
        }
    }

    /// Without a format header the headers of the platform tell which is meant, because one client leaves it out when
    /// its caller sets headers of his own.
    func format() throws(HubAPIError) -> Format {
        guard let format = known.format else {
            let meant = platforms.filter { !passedOn($0.descriptor).isEmpty }
            guard meant.count == 1 else { throw .badFormat("", allowed: allowed) }
            return .native(meant[0])
        }
        if format.lowercased() == "template" { return .template }
        guard let platform = platforms.format(format) else { throw .badFormat(format, allowed: allowed) }
        return .native(platform)
    }

    func content(_ format: Format, body: [UInt8]) -> Notification.Content {
        switch format {
        case .native(let platform):
            .native(platform.descriptor.platform, Message(body: body, fields: passedOn(platform.descriptor)))
        case .template: .template(properties: body)
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

    /// A handle of several parts may have the first in the header of handles and each further one in a header with the
    /// name of its element, or all of them in one text as the platform writes it.
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

    private var allowed: [String] { platforms.map { $0.descriptor.format } + ["template"] }

    private func passedOn(_ descriptor: PushPlatformDescriptor) -> [String: String] {
        var passed: [String: String] = [:]
        for field in fields where descriptor.fieldPrefixes.contains(where: field.name.hasPrefix) {
            passed[field.name] = field.value
        }
        return passed
    }
}
