import MartletCore
import MartletHTTP
import MartletModel

/// Serves the telemetry of a send (NotificationHubs.md, section 8.1).
struct TelemetryRoutes: Sendable {
    let notifications: NotificationIntake
    let platforms: PushPlatformList
    let feedback: FeedbackAddress

    func add(to routes: inout HubRoutes) {
        routes.on(.get, "/{hub}/messages/{id}", needs: .manage, read)
    }

    @Sendable private func read(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        guard let id = NotificationID(call.match["id"]) else { throw .notificationNotFound }
        let found: NotificationReport?
        let hasErrors: Bool
        do throws(StorageError) {
            found = try await notifications.report(id, in: call.hub.id)
            hasErrors = if let found { try await hasRefusals(found, id, call) } else { false }
        } catch {
            throw HubAPIError(error)
        }
        guard let report = found else { throw .notificationNotFound }
        let details = NotificationDetails(
            report: report, platforms: platforms, url: call.url("messages", id.description) + call.versionQuery,
            errorsURL: hasErrors && !Self.isBeforeErrors(call) ? try feedback.file(of: id, call) : nil)
        return HTTPResponse(
            .ok, fields: ["content-type": "application/xml; charset=utf-8"], body: .bytes(details.document()))
    }

    /// Returns true if the notification has refused pushes and the report counts some of them. The report was read
    /// before the refusals. If the report counts no refusals, refusals that were recorded later are ignored.
    private func hasRefusals(
        _ report: NotificationReport, _ id: NotificationID, _ call: HubCall
    ) async throws(StorageError) -> Bool {
        guard report.counts.values.contains(where: { $0.keys.contains(where: \.isFailure) }) else { return false }
        return try await !notifications.refusals(of: id, in: call.hub.id, limit: 1).records.isEmpty
    }

    /// Returns true if the client's API version predates `PnsErrorDetailsUri`.
    private static func isBeforeErrors(_ call: HubCall) -> Bool {
        guard let version = call.match.target.item("api-version")?.value, !version.isEmpty else { return false }
        return version < "2016-07"
    }
}
