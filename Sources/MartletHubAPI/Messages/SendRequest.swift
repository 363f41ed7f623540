import MartletCore
import MartletHTTP
import MartletModel

/// A send, read from its headers and body (wire document, sections 6.1 to 6.3).
struct SendRequest {
    let platform: PlatformID
    let target: Notification.Target
    let message: Message

    /// The largest body in bytes.
    static let sizeLimit = 65_536

    init(_ request: HTTPRequest, isDirect: Bool, platforms: PushPlatformList) throws(HubAPIError) {
        let fields = SendFields(request.fields)
        let descriptor = try Self.descriptor(fields, request.fields, platforms)
        if fields.isScheduled {
            throw .badRequest(
                "ServiceBusNotification-ScheduleTime is for /schedulednotifications, which this server does not serve yet"
            )
        }
        platform = descriptor.platform
        target =
            isDirect
            ? .direct([try Self.handle(fields, request.fields, descriptor)]) : .audience(try Self.audience(fields))
        message = Message(body: request.body, fields: Self.passedOn(request.fields, descriptor))
    }

    /// Without a format header the headers of the platform tell which is meant, because one client leaves it out when
    /// its caller sets headers of his own.
    private static func descriptor(
        _ known: SendFields, _ fields: HTTPFields, _ platforms: PushPlatformList
    ) throws(HubAPIError) -> PushPlatformDescriptor {
        let allowed = platforms.map { $0.descriptor.format }
        guard let format = known.format else {
            let meant = platforms.filter { !passedOn(fields, $0.descriptor).isEmpty }
            guard meant.count == 1 else { throw .badFormat("", allowed: allowed) }
            return meant[0].descriptor
        }
        if format.lowercased() == "template" {
            throw .badRequest("This server does not serve template notifications yet")
        }
        guard let platform = platforms.format(format) else { throw .badFormat(format, allowed: allowed) }
        return platform.descriptor
    }

    private static func audience(_ fields: SendFields) throws(HubAPIError) -> TagExpression? {
        if fields.deviceHandle != nil {
            throw .badRequest("ServiceBusNotification-DeviceHandle is for direct sends: add &direct to the query")
        }
        guard let text = fields.tags else { return nil }
        do throws(TagExpressionError) {
            return try TagExpression(text)
        } catch {
            throw .badRequest(error.description)
        }
    }

    /// The first part of a handle has a header of its own; those of further parts have the names of their elements.
    private static func handle(
        _ known: SendFields, _ fields: HTTPFields, _ descriptor: PushPlatformDescriptor
    ) throws(HubAPIError) -> PushHandle {
        guard let first = known.deviceHandle, !first.isEmpty else {
            throw .badRequest("A direct send needs the header ServiceBusNotification-DeviceHandle")
        }
        var parts = [first]
        for element in descriptor.handleElements.dropFirst() {
            guard let part = fields[element.lowercased()], !part.isEmpty else {
                throw .badRequest("A direct send to this platform needs the header \(element)")
            }
            parts.append(part)
        }
        return PushHandle(parts: parts)
    }

    private static func passedOn(_ fields: HTTPFields, _ descriptor: PushPlatformDescriptor) -> [String: String] {
        var passed: [String: String] = [:]
        for field in fields where descriptor.fieldPrefixes.contains(where: field.name.hasPrefix) {
            passed[field.name] = field.value
        }
        return passed
    }
}
