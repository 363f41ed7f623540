import MartletCore
import MartletHTTP
import MartletModel

/// Lists the scheduled notifications. This route is an extension of Azure's API. `MessageRoutes` has the routes that
/// replace and cancel scheduled notifications.
struct ScheduleRoutes: Sendable {
    let notifications: NotificationIntake
    let platforms: PushPlatformList

    private static let pageLimit = 100

    func add(to routes: inout HubRoutes) {
        routes.on(
            .get, "/{hub}/schedulednotifications", needs: .manage, answerBytes: HTTPRequest.pageBytes, list)
    }

    @Sendable private func list(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        var query = ScheduleQuery(hub: call.hub.id, limit: Self.pageLimit + 1)
        query.from = try Self.timestamp("from", call)
        query.to = try Self.timestamp("to", call)
        query.after = try Self.position(call.match.target.item("continuation")?.value)
        var found: [ScheduledNotification]
        do throws(StorageError) {
            found = try await notifications.scheduled(query)
        } catch {
            throw HubAPIError(error)
        }
        var document: [String: JSON] = [:]
        if found.count > Self.pageLimit {
            found.removeLast()
            document["continuation"] = found.last.map { .string(Self.text(of: $0.position)) }
        }
        document["schedules"] = .array(found.map(json))
        return HTTPResponse(
            .ok, fields: ["content-type": "application/json; charset=utf-8", "cache-control": "no-store"],
            body: .bytes(JSON.object(document).bytes))
    }

    private static func timestamp(_ name: String, _ call: HubCall) throws(HubAPIError) -> Timestamp? {
        guard let text = call.match.target.item(name)?.value else { return nil }
        guard let timestamp = Timestamp(iso8601: text) else {
            throw .badRequest("The query item '\(name)' must be a time such as 2026-11-21T09:22:56Z")
        }
        return timestamp
    }

    private static func text(of position: SchedulePosition) -> String {
        "\(position.dueAt.milliseconds).\(position.sequence)"
    }

    private static func position(_ text: String?) throws(HubAPIError) -> SchedulePosition? {
        guard let text, !text.isEmpty else { return nil }
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false).map { Int64($0) }
        guard numbers.count == 2, let due = numbers[0], let sequence = numbers[1] else {
            throw .badRequest("The continuation is not one that this listing gave")
        }
        return SchedulePosition(dueAt: Timestamp(milliseconds: due), sequence: sequence)
    }

    private func json(_ scheduled: ScheduledNotification) -> JSON {
        let notification = scheduled.notification
        var members: [String: JSON] = [
            "notification": .string(notification.id.description),
            "dueAt": .string((notification.dueAt ?? notification.acceptedAt).iso8601),
            "acceptedAt": .string(notification.acceptedAt.iso8601),
            "expiresAt": .string(notification.expiresAt.iso8601), "control": .string(scheduled.control.rawValue),
            "format": .string(format(of: notification.content)),
            "isConfidential": .bool(notification.isConfidential),
        ]
        switch notification.target {
        case .audience(let expression): members["tags"] = expression.map { .string($0.description) } ?? .null
        case .direct(let handles): members["handles"] = .integer(Int64(handles.count))
        }
        members["rollout"] = notification.rollout.map { .string($0.description) }
        if !notification.isConfidential { members["title"] = notification.title(platforms).map { .string($0) } }
        if !notification.isConfidential, let body = String(validating: notification.content.body, as: UTF8.self) {
            members["body"] = .string(body)
        }
        return .object(members)
    }

    private func format(of content: Notification.Content) -> String {
        switch content {
        case .native(let platform, _): platforms[platform]?.descriptor.format ?? platform.rawValue
        case .template: "template"
        case .message: "message"
        }
    }
}
