public import MartletCore
public import MartletHTTP
import MartletModel
import Synchronization

/// Records changes that are made through the admin socket in the operators' audit log. The entry is on disk before the
/// change is made. A refused attempt is recorded too, with the status of its answer.
///
/// The console passes its requests to the administration API without this handler, because `GatedRoute` records them.
public final class CommandLineAudit: HTTPHandler {
    /// The operator's name in the entries. It contains a space, so no operator can have this name.
    public static let name = "command line"
    /// The minimum time between two entries about the migration of one hub. A migration sends thousands of pages of
    /// devices, so an entry for each page would be too many.
    private static let migrationInterval = Duration.seconds(3600)

    private let handler: any HTTPHandler
    private let store: any OperatorStore
    private let time: any TimeSource
    /// The user id of this process, if this process makes the changes itself because no server runs; nil for the admin
    /// socket of a server.
    private let ownUser: UInt32?
    private let migrations = Mutex<[String: Timestamp]>([:])

    public init(
        _ handler: any HTTPHandler, store: any OperatorStore, time: any TimeSource, ownUser: UInt32? = nil
    ) {
        self.handler = handler
        self.store = store
        self.time = time
        self.ownUser = ownUser
    }

    public func route(for head: HTTPRequest) -> HTTPRoute {
        var route = handler.route(for: head)
        guard let change = Change(head, route.pattern), isDue(change) else { return route }
        let respond = route.respond
        route.respond = { request in await self.respond(to: request, change, respond) }
        return route
    }

    private func isDue(_ change: Change) -> Bool {
        guard change.isOfMigration, let hub = change.hub?.lowercased() else { return true }
        let now = time.now
        return migrations.withLock { migrations in
            if let last = migrations[hub], now - last < Self.migrationInterval, now >= last { return false }
            migrations = migrations.filter { now - $0.value < Self.migrationInterval }
            migrations[hub] = now
            return true
        }
    }

    private func respond(
        to request: HTTPRequest, _ change: Change, _ respond: @Sendable (HTTPRequest) async -> HTTPResponse
    ) async -> HTTPResponse {
        let user = (request.connection?.user ?? ownUser).map { "uid \($0)" } ?? ""
        let action = OperatorAction(
            at: time.now, operatorName: Self.name, address: user, role: "", action: change.action, hub: change.hub,
            subject: change.subject(of: request))
        let id: OperatorAction.ID
        do throws(StorageError) {
            id = try await store.begin(action)
        } catch {
            let status: HTTPStatus = error.kind == .full ? .insufficientStorage : .serviceUnavailable
            return HTTPResponse(
                status, consoleJSON: ["error": .string("The audit log cannot be written: \(error.detail)")])
        }
        let response = await respond(request)
        try? await store.end(
            id, answer: response.status.code, subject: change.makesSend ? AuditSubject.made(by: response) : nil)
        return response
    }
}

extension CommandLineAudit {
    /// A request that changes something, described in the same way as the requests of the console's routes.
    private struct Change {
        /// The method and the path pattern, such as `PUT /hubs/{hub}/limits`.
        let action: String
        let hub: String?
        /// Whether the request may create a notification. A test send creates none.
        let makesSend: Bool
        let isOfMigration: Bool
        private let isTest: Bool
        private let target: HTTPTarget
        private let pattern: String
        private let values: [String: String]

        /// The patterns of requests that only read, although their method is POST. Their parameters are in the body,
        /// because a parameter may be a user's name or a handle.
        private static let readings: Set<String> = [
            "/hubs/{hub}/devices/search", "/hubs/{hub}/devices/former", "/hubs/{hub}/migration/compare",
        ]
        /// The path segments of those parts of the hub's API whose requests are recorded, because people make these
        /// requests. Apps and programs register devices, so registrations are not recorded. Only the removal of a
        /// registration is recorded.
        private static let ofHubs = ["messages", "schedulednotifications", "sending", "jobs"]
        private static let ofSends = ["messages", "schedulednotifications"]

        init?(_ head: HTTPRequest, _ found: String?) {
            guard ![.get, .head].contains(head.method), let found, let target = HTTPTarget(head.target) else {
                return nil
            }
            let isOfHub = target.segments.first == "rest"
            pattern =
                isOfHub
                ? "/rest" + found : found.hasPrefix("/hubs/{name}") ? "/hubs/{hub}" + found.dropFirst(12) : found
            let parts = pattern.split(separator: "/").map(String.init)
            guard !Self.readings.contains(pattern), parts.count == target.segments.count else { return nil }
            // The path of a hub itself has two parts.
            if isOfHub, parts.count > 2 {
                let isRemoval = head.method == .delete && ["installations", "registrations"].contains(parts[2])
                guard Self.ofHubs.contains(parts[2]) || isRemoval else { return nil }
            }
            let route = "\(head.method.rawValue) \(pattern)"
            guard !TrialSend.isDryRun(target, on: route) else { return nil }
            var values: [String: String] = [:]
            for (part, segment) in zip(parts, target.segments) where part.hasPrefix("{") {
                values[String(part.dropFirst().dropLast())] = segment
            }
            self.values = values
            self.target = target
            hub = values["hub"]
            let isSend =
                isOfHub && parts.count > 2 && Self.ofSends.contains(parts[2]) && head.method != .delete
            isTest = TrialSend.isTest(head, target, on: route)
            makesSend = isSend && !isTest
            isOfMigration = parts.contains("migration")
            action = isOfMigration ? "POST /hubs/{hub}/migration" : isTest ? "\(route)?test" : route
        }

        func subject(of request: HTTPRequest) -> String? {
            isTest
                ? AuditSubject.ofTest(request, target)
                : AuditSubject.subject(pattern, body: request.body) { values[$0] ?? "" }
        }
    }
}
