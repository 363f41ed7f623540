import MartletCore
import MartletHTTP
import MartletModel

/// The routes for a hub's feedback: the pushes that push services refused, as a container of files
/// (NotificationHubs.md, section 8.5). No file is stored: each file is generated from the store while it is read, and
/// exists as long as its notification.
struct FeedbackRoutes: Sendable {
    static let contentType = "text/plain; charset=utf-8"

    /// The maximum number of refusals that are read from the store at once.
    private static let pageLimit = 500

    let notifications: NotificationIntake
    let hubs: HubDirectory
    let address: FeedbackAddress

    func add(to routes: inout HubRoutes) {
        routes.on(.get, "/{hub}/feedbackcontainer", needs: .manage, container)
        let files = "/{hub}/\(FeedbackAddress.segment)"
        onSigned(.get, files, needs: .list, in: &routes.router, list)
        onSigned(.get, "\(files)/{file}", needs: .read, in: &routes.router, read)
        onSigned(.head, "\(files)/{file}", needs: .read, in: &routes.router, read)
    }

    /// Adds a route that needs no token, because its URL is signed.
    private func onSigned(
        _ method: HTTPMethod, _ pattern: String, needs right: StorageRights, in router: inout Router,
        _ answer: @escaping @Sendable (Hub, RouteMatch) async throws(BlobError) -> HTTPResponse
    ) {
        router.on(method, pattern) { request, match in
            do throws(BlobError) {
                let rights = try address.signer.rights(of: match.target, containerDepth: 2, at: address.time.now)
                guard rights.contains(right) else { throw .notAllowed }
                guard let hub = hubs.hub(named: match["hub"]) else { throw .noContainer }
                let account = HTTPBodyAccount.caller(FeedbackAddress.segment, scope: hub.name.description)
                guard await request.hasAnswerRoom(HTTPRequest.pageBytes, for: account) else { throw .overloaded }
                return ContainerAPI.marked(try await answer(hub, match))
            } catch {
                return ContainerAPI.marked(error.response)
            }
        }
    }

    @Sendable private func container(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        HTTPResponse(
            .ok, fields: ["content-type": "application/xml; charset=utf-8"],
            body: .bytes(Array(try address.container(call).utf8)))
    }

    @Sendable private func list(_ hub: Hub, _ match: RouteMatch) async throws(BlobError) -> HTTPResponse {
        let listing = try FeedbackListing(match.target)
        let found: [NotificationID]
        do throws(StorageError) {
            found = try await notifications.refused(in: hub.id, after: listing.marker, limit: listing.limit + 1)
        } catch {
            throw BlobError(.storage(error))
        }
        let document = listing.document(found, container: "\(hub.name)/\(FeedbackAddress.segment)")
        return HTTPResponse(.ok, fields: ["content-type": "application/xml"], body: .bytes(document))
    }

    @Sendable private func read(_ hub: Hub, _ match: RouteMatch) async throws(BlobError) -> HTTPResponse {
        guard let id = FeedbackAddress.notification(ofFile: match["file"]) else { throw .noBlob }
        let first = try await page(of: id, in: hub.id, after: .start)
        guard !first.records.isEmpty else { throw .noBlob }
        return HTTPResponse(
            .ok, fields: ["content-type": Self.contentType, "x-ms-blob-type": "BlockBlob"],
            body: .stream { writer in
                var page = first
                while true {
                    try await writer.write(page.records.flatMap { FeedbackLine(record: $0, notification: id).bytes })
                    guard let next = page.next else { return }
                    page = try await self.page(of: id, in: hub.id, after: next)
                }
            })
    }

    private func page(
        of id: NotificationID, in hub: Hub.ID, after position: RefusalPosition
    ) async throws(BlobError) -> RefusalPage {
        do throws(StorageError) {
            return try await notifications.refusals(of: id, in: hub, after: position, limit: Self.pageLimit)
        } catch {
            throw BlobError(.storage(error))
        }
    }
}
