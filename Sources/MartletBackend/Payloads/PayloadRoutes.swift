import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// The routes with which recipients fetch payloads by the ids in their pushes, and with which senders see who has read
/// a payload.
struct PayloadRoutes: Sendable {
    let backend: Backend

    private static let path = "/api/notifications/{id}"
    /// The maximum number of addressees in one answer.
    private static let readersLimit = 1000

    func add(to router: inout Router) {
        for method in [HTTPMethod.get, .head] {
            router.on(method, Self.path) { request, match in
                await backend.answer(request) { (caller) throws(BackendError) in
                    try await fetch(try id(match), request, for: caller.name)
                }
            }
        }
        router.on(.get, Self.path + "/readers") { request, match in
            await backend.answer(request) { (caller) throws(BackendError) in
                try await readers(of: try id(match), after: match.target.item("after")?.value, for: caller.name)
            }
        }
    }

    private func id(_ match: RouteMatch) throws(BackendError) -> PayloadID {
        guard let id = PayloadID(match["id"]) else { throw .noPayload }
        return id
    }

    // MARK: Content

    /// Fetches a payload. A refusal takes the same work for every reason, so its duration does not reveal whether the
    /// payload exists. The limit on misses (see `MissLimiter`) applies only to refusals: a caller who guesses ids, or
    /// whose app was made to do so, can still read their own payloads.
    private func fetch(
        _ id: PayloadID, _ request: HTTPRequest, for user: UserName
    ) async throws(BackendError) -> HTTPResponse {
        let access = Access(id: id, user: user.folded, address: request.clientAddress, now: backend.time.now)
        let found = try await backend.stored { () throws(StorageError) in
            try await backend.payloads.payload(id, for: access.user, at: access.now)
        }
        guard let found else { throw try await refusal(access) }
        switch found.payload.content {
        case .text(let bytes):
            guard request.method != .head else { return text(found, bytes) }
            let read = try await markRead(access)
            guard case .text(let bytes) = read.payload.content else { throw .noPayload }
            return text(read, bytes)
        case .body(let name, _):
            let response = try await body(name, of: found.payload, request)
            if request.method == .get, response.status.isSuccess { _ = try await markRead(access) }
            return response
        }
    }

    private struct Access {
        let id: PayloadID
        let user: String
        let address: String
        let now: Timestamp
    }

    private func refusal(_ access: Access) async throws(BackendError) -> BackendError {
        try backend.misses.check(access.user, at: access.now)
        backend.misses.missed(access.user, at: access.now)
        try await backend.stored { () throws(StorageError) in
            try await backend.payloads.audit(
                PayloadAccess(
                    at: access.now, payload: access.id, user: access.user, outcome: .refused, address: access.address))
        }
        return .noPayload
    }

    private func markRead(_ access: Access) async throws(BackendError) -> AddressedPayload {
        let read = try await backend.stored { () throws(StorageError) in
            try await backend.payloads.readPayload(
                access.id, for: access.user, at: access.now, from: access.address)
        }
        guard let read else { throw .noPayload }
        return read
    }

    private func text(_ found: AddressedPayload, _ bytes: [UInt8]) -> HTTPResponse {
        let payload = found.payload
        var members: [String: JSON] = [
            "Id": .integer(Int64(payload.id.rawValue)), "Read": .bool(found.readAt != nil),
        ]
        if payload.kind == .encrypted {
            members["Device"] = .string(payload.device ?? "")
            members["Ciphertext"] = .string(Base64.encode(bytes))
        } else {
            members["Payload"] = .string(String(decoding: bytes, as: UTF8.self))
        }
        var response = HTTPResponse(.ok, json: .object(members))
        for field in Self.privacy { response.fields.append(field) }
        return response
    }

    private func body(
        _ name: String, of payload: StoredPayload, _ request: HTTPRequest
    ) async throws(BackendError) -> HTTPResponse {
        let content: any BlobContent
        do throws(ContainerError) {
            content = try await backend.bodies.open(name)
        } catch {
            throw error == .noBlob ? .noPayload : BackendError(error)
        }
        let whole = HTTPContent(
            length: content.blob.size, entityTag: content.blob.entityTag, modifiedAt: payload.createdAt.seconds
        ) { try await content.read(at: $0, count: $1) }
        var fields = HTTPFields(Self.privacy)
        let type = MediaType(payload.contentType) ?? .binary
        fields["content-type"] = type.text
        fields["content-disposition"] = type.isShown ? "inline" : "attachment"
        do throws(HTTPContent.Refusal) {
            return try whole.response(to: request, fields: fields)
        } catch {
            guard error == .outOfRange else { throw .payloadChanged }
            var response = HTTPResponse(.outOfRange as BackendError)
            response.fields["content-range"] = "bytes */\(whole.length)"
            return response
        }
    }

    /// Header fields that let a browser only display untrusted content, without running scripts, and that keep caches
    /// from storing the content.
    private static let privacy = [
        HTTPField("cache-control", "private, no-store"), HTTPField("x-content-type-options", "nosniff"),
        HTTPField("content-security-policy", "sandbox; default-src 'none'"),
    ]

    // MARK: Read receipts

    private func readers(
        of id: PayloadID, after name: String?, for sender: UserName
    ) async throws(BackendError) -> HTTPResponse {
        let found = try await backend.stored { () throws(StorageError) in
            try await backend.payloads.readers(
                of: id, sentBy: sender.folded, after: name, limit: Self.readersLimit + 1, at: backend.time.now)
        }
        guard let found else { throw .noPayload }
        let page = found.prefix(Self.readersLimit)
        var members: [String: JSON] = [
            "readers": .array(
                page.map { ["user": .string($0.user), "read": $0.readAt.map { .string($0.iso8601) } ?? .null] })
        ]
        if found.count > page.count { members["next"] = page.last.map { .string($0.user) } }
        var response = HTTPResponse(.ok, json: .object(members))
        response.fields["cache-control"] = "private, no-store"
        return response
    }
}
