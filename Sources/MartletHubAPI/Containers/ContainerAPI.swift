public import MartletCore
import MartletCrypto
public import MartletHTTP
import MartletModel

/// Containers of blobs under `/$containers`, compatible with the clients of Azure's blob service (NotificationHubs.md,
/// sections 8.5 and 9.2). Access needs a signed URL.
public struct ContainerAPI: Sendable {
    /// The first path segment. It cannot be the name of a hub.
    public static let segment = "$containers"

    /// The maximum size of a request's body, in bytes. A larger blob is uploaded in blocks.
    static let bodyLimit = Int(Blob.sizeLimit)

    let store: any ContainerStore
    let signer: URLSigner
    let time: any TimeSource

    public init(store: any ContainerStore, signer: URLSigner, time: any TimeSource) {
        self.store = store
        self.signer = signer
        self.time = time
    }

    /// Makes the handler of requests whose path begins with `segment`.
    public func makeHandler() -> any HTTPHandler { makeRouter() }

    func makeRouter() -> Router {
        var router = Router { _, refusal in
            switch refusal {
            case .badTarget: Self.marked(BlobError.badTarget.response)
            case .notFound: Self.marked(BlobError.noContainer.response)
            case .methodNotAllowed(let allowed): Self.marked(Self.methodNotAllowed(allowed))
            }
        }
        let container = "/\(Self.segment)/{container}"
        let blob = "\(container)/{blob...}"
        on(.get, container, in: &router, answerBytes: HTTPRequest.pageBytes, answerContainer)
        on(.head, container, in: &router, answerContainer)
        on(.get, blob, in: &router, answerBytes: HTTPRequest.documentBytes, read)
        on(.head, blob, in: &router, read)
        on(.put, blob, in: &router, bodyLimit: Self.bodyLimit, put)
        on(.delete, blob, in: &router, delete)
        return router
    }

    private func on(
        _ method: HTTPMethod, _ pattern: String, in router: inout Router, bodyLimit: Int = 0, answerBytes: Int = 0,
        _ answer: @escaping @Sendable (ContainerCall) async throws(BlobError) -> HTTPResponse
    ) {
        router.admit(method, pattern) { head, match in
            let admitted: ContainerCall
            do throws(BlobError) {
                admitted = try ContainerCall(head, match, signer: signer, now: time.now)
            } catch {
                return HTTPRoute(refusing: Self.marked(error.response))
            }
            return HTTPRoute(bodyLimit: bodyLimit, streamsBody: bodyLimit > 0, account: admitted.account) { request in
                do throws(BlobError) {
                    guard await request.hasAnswerRoom(answerBytes, for: admitted.account) else { throw .overloaded }
                    var call = admitted
                    call.request = request
                    return Self.marked(try await answer(call))
                } catch {
                    return Self.marked(error.response)
                }
            }
        }
    }

    private static func methodNotAllowed(_ allowed: [HTTPMethod]) -> HTTPResponse {
        var response = BlobError.methodNotAllowed.response
        response.fields["allow"] = allowed.map(\.rawValue).joined(separator: ", ")
        return response
    }

    /// Returns the response with the header fields that Azure's blob service sends with every answer, and the fields
    /// that stop a browser from running untrusted content.
    static func marked(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.fields["x-ms-version"] = StorageVersion.current
        response.fields["x-ms-request-id"] = TrackingID.random()
        response.fields["x-content-type-options"] = "nosniff"
        response.fields["content-security-policy"] = "sandbox; default-src 'none'"
        return response
    }

    // MARK: Containers

    @Sendable private func answerContainer(_ call: ContainerCall) async throws(BlobError) -> HTTPResponse {
        switch call.query("comp") {
        case "list":
            try call.needs(.list)
            return try await list(call)
        case nil:
            // Without `comp`, the request only asks whether the container exists. A client may do this before it reads
            // or lists blobs, so the right to read or the right to list is enough.
            guard !call.rights.isDisjoint(with: [.read, .list]) else { throw .notAllowed }
            _ = try await page(BlobQuery(container: call.container, limit: 1))
            return HTTPResponse(
                .ok, fields: ["content-type": "application/xml", "x-ms-lease-state": "available"])
        case let operation?: throw .notServed("comp=\(operation.prefix(32))")
        }
    }

    private func list(_ call: ContainerCall) async throws(BlobError) -> HTTPResponse {
        let listing = try BlobListing(call)
        let page = try await page(listing.query)
        return HTTPResponse(
            .ok, fields: ["content-type": "application/xml"], body: .bytes(listing.document(page)))
    }

    private func page(_ query: BlobQuery) async throws(BlobError) -> BlobPage {
        do throws(ContainerError) {
            return try await store.blobs(query)
        } catch {
            throw BlobError(error)
        }
    }

    // MARK: Blobs

    @Sendable private func read(_ call: ContainerCall) async throws(BlobError) -> HTTPResponse {
        try call.needs(.read)
        if let operation = call.query("comp") { throw .notServed("comp=\(operation.prefix(32))") }
        let address = try call.blob()
        let content: any BlobContent
        do throws(ContainerError) {
            content = try await store.openBlob(address)
        } catch {
            throw BlobError(error)
        }
        return try BlobFields.response(to: call.request, content)
    }

    @Sendable private func delete(_ call: ContainerCall) async throws(BlobError) -> HTTPResponse {
        try call.needs(.delete)
        let address = try call.blob()
        do throws(ContainerError) {
            try await store.deleteBlob(address)
        } catch {
            throw BlobError(error)
        }
        return HTTPResponse(202)
    }
}
