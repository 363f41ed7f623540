import MartletCore
import MartletHTTP
import MartletModel

/// Creates, changes, reads, lists and deletes hubs (NotificationHubs.md, section 13).
struct HubManagementRoutes: Sendable {
    let hubs: HubDirectory
    let platforms: PushPlatformList
    let time: any TimeSource

    func add(to routes: inout HubRoutes) {
        let limit = HubDocument.sizeLimit
        routes.onManagement(.get, "/", list)
        routes.onManagement(.get, "/$Resources/NotificationHubs", list)
        routes.onManagement(.put, "/{hub}", bodyLimit: limit, put)
        routes.onManagement(.get, "/{hub}", read)
        routes.onManagement(.delete, "/{hub}", bodyLimit: limit, delete)
    }

    /// Updates a hub if the request has `If-Match`; otherwise creates one.
    @Sendable private func put(_ call: ManagementCall) async throws(HubAPIError) -> HTTPResponse {
        switch EntityTag.condition(call.request.fields["if-match"]) {
        case .none: try await create(call)
        case .exists: try await update(call)
        default: throw .hubHasNoVersion
        }
    }

    private func create(_ call: ManagementCall) async throws(HubAPIError) -> HTTPResponse {
        guard call.hub == nil else { throw .hubExists }
        let document = try HubDocument(call.request.body, platforms: platforms)
        var settings = HubSettings()
        document.apply(to: &settings, at: time.now)
        do throws(HubDirectoryError) {
            return answer(.created, try await hubs.create(call.match["hub"], settings), to: call)
        } catch {
            throw HubAPIError(error)
        }
    }

    private func update(_ call: ManagementCall) async throws(HubAPIError) -> HTTPResponse {
        let hub = try call.existingHub()
        let document = try HubDocument(call.request.body, platforms: platforms)
        let now = time.now
        do throws(HubDirectoryError) {
            let changed = try await hubs.update(hub.name) { document.apply(to: &$0, at: now) }
            return answer(.ok, changed, to: call)
        } catch {
            throw HubAPIError(error)
        }
    }

    @Sendable private func read(_ call: ManagementCall) throws(HubAPIError) -> HTTPResponse {
        answer(.ok, try call.existingHub(), to: call)
    }

    @Sendable private func delete(_ call: ManagementCall) async throws(HubAPIError) -> HTTPResponse {
        let hub = try call.existingHub()
        do throws(HubDirectoryError) {
            try await hubs.delete(hub.name)
            return HTTPResponse(.ok)
        } catch {
            throw HubAPIError(error)
        }
    }

    /// Lists the hubs. Without a limit in the query, one page contains all hubs, because there is no continuation
    /// token.
    @Sendable private func list(_ call: ManagementCall) throws(HubAPIError) -> HTTPResponse {
        let skip = try Self.count("$skip", in: call.match.target) ?? 0
        let top = try Self.count("$top", in: call.match.target) ?? .max
        let listed = hubs.all.dropFirst(skip).prefix(top)
        let feed = HubFeed(
            url: call.url(call.match.target.segments.joined(separator: "/")),
            updatedAt: listed.map(\.modifiedAt).max() ?? time.now, entries: listed.map { entry($0, in: call) })
        return HTTPResponse(
            .ok, fields: ["content-type": "application/atom+xml; type=feed; charset=utf-8"],
            body: .bytes(feed.document()))
    }

    private static func count(_ name: String, in target: HTTPTarget) throws(HubAPIError) -> Int? {
        guard let text = target.item(name)?.value else { return nil }
        guard let number = Int(text), number >= 0 else { throw .badRequest("\(name) must be a number, 0 or more") }
        return number
    }

    private func answer(_ status: HTTPStatus, _ hub: Hub, to call: ManagementCall) -> HTTPResponse {
        HTTPResponse(
            status, fields: ["content-type": "application/atom+xml; type=entry; charset=utf-8"],
            body: .bytes(entry(hub, in: call).document()))
    }

    private func entry(_ hub: Hub, in call: ManagementCall) -> HubEntry {
        HubEntry(hub: hub, platforms: platforms, url: call.url(hub.name), namespace: call.namespace)
    }
}
