import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// Sends content of any media type. The content stays at the server; the pushes carry its id.
struct RichRoutes: Sendable {
    let backend: Backend

    /// The maximum size of a body in bytes for the network layer. It is larger than every limit that is checked here,
    /// because the checks here give a clearer error message than the network layer.
    private static let bodyLimit = 1 << 50
    /// The maximum size in bytes of a payload in JSON, which is held in memory.
    private static let jsonPayloadLimit = 1 << 20
    /// The maximum size in bytes of a whole JSON body.
    private static let jsonBodyLimit = 2 << 20

    func add(to router: inout Router) {
        router.on(.post, "/api/notifications/rich", bodyLimit: Self.bodyLimit, streamsBody: true) { request, _ in
            await backend.answer(request) { (caller) throws(BackendError) in
                HTTPResponse(created: try await send(request, from: caller))
            }
        }
    }

    private func send(_ request: HTTPRequest, from caller: Caller) async throws(BackendError) -> PayloadID {
        let form = try Form(request)
        let atLeast = try checkedLength(of: request, as: form)
        let key = try IdempotencyKey(request, of: caller, on: "rich")
        return try await PayloadSender(backend: backend).send(from: caller.name, atLeast: atLeast, key) {
            upload throws(BackendError) in
            let fields =
                switch form {
                case .multipart: try await readForm(request, into: &upload)
                case .json: try await readJSON(request, into: &upload)
                }
            let order = try RichOrder(fields, from: caller.name)
            try backend.check(caller, maySendTo: order.audience)
            return order
        }
    }

    private enum Form {
        case multipart
        case json

        init(_ request: HTTPRequest) throws(BackendError) {
            try RequestBody.refuseEncoded(request)
            switch request.fields["content-type"].map({ HeaderParameters($0)?.value }) {
            case "multipart/form-data": self = .multipart
            case nil, "application/json": self = .json
            default: throw .badMediaType
            }
        }
    }

    /// Refuses a request whose declared length is too large.
    /// - Returns: The minimum size of the payload in bytes.
    private func checkedLength(of request: HTTPRequest, as form: Form) throws(BackendError) -> Int64 {
        guard let length = request.fields["content-length"].flatMap({ Int64($0) }) else { return 0 }
        switch form {
        case .multipart:
            guard length <= limits.fileBytes + limits.overhead else { throw .payloadTooLarge(limits.fileBytes) }
            return max(0, length - limits.overhead)
        case .json:
            guard length <= Self.jsonBodyLimit else { throw .tooLargeForJSON(Self.jsonPayloadLimit) }
            return 0
        }
    }

    /// The limits of a form. They allow one part for each recipient, and some other parts.
    private var limits: FormDataParser.Limits {
        FormDataParser.Limits(
            parts: SendAudience.userLimit + 28, headerBytes: 2048, fieldBytes: 16_384,
            fileBytes: backend.settings.payloads.sizeLimit)
    }

    // MARK: Bodies

    private func readForm(
        _ request: HTTPRequest, into upload: inout PayloadUpload
    ) async throws(BackendError) -> RichFields {
        var form = try RichForm(contentType: request.fields["content-type"], limits: limits)
        let reader = request.reader
        while let piece = try await Self.next(reader) { try await form.read(piece, into: &upload) }
        return try form.finished()
    }

    private func readJSON(
        _ request: HTTPRequest, into upload: inout PayloadUpload
    ) async throws(BackendError) -> RichFields {
        var request = request
        do throws(HTTPBodyError) {
            request.body = try await request.reader.collect(upTo: Self.jsonBodyLimit)
        } catch {
            throw error == .tooLarge ? .tooLargeForJSON(Self.jsonPayloadLimit) : BackendError(error)
        }
        let body = try RequestBody(request)
        guard let payload = Base64.decode(try body.string("payload")) else {
            throw .badBody("The member \"payload\" must be Base64 with padding.")
        }
        guard payload.count <= Self.jsonPayloadLimit else { throw .tooLargeForJSON(Self.jsonPayloadLimit) }
        try await upload.write(payload)
        return try RichFields(body)
    }

    private static func next(_ reader: any HTTPBodyReader) async throws(BackendError) -> [UInt8]? {
        do throws(HTTPBodyError) {
            return try await reader.read()
        } catch {
            throw BackendError(error)
        }
    }
}

extension PayloadSender {
    /// Sends content that `write` writes to disk, according to the order that `write` returns. If the send fails before
    /// its first push, nothing remains stored.
    /// - Parameters:
    ///   - count: The minimum size of the content in bytes, as far as it is known.
    ///   - key: The key by which a repeated request is recognized.
    func send(
        from sender: UserName, atLeast count: Int64 = 0, _ key: IdempotencyKey? = nil,
        _ write: (inout PayloadUpload) async throws(BackendError) -> RichOrder
    ) async throws(BackendError) -> PayloadID {
        var upload = try await upload(from: sender, atLeast: count, key)
        let outcome: Outcome
        do throws(BackendError) {
            let order = try await write(&upload)
            let request = try key.map { key throws(BackendError) in
                key.identity(of: order.content(try upload.digest()))
            }
            if upload.isStored {
                try await upload.commit()
            } else if try await backend.record(of: request) == nil {
                // This request repeats an earlier request. So its content was only compared with the earlier content,
                // and was not stored. But the record of the earlier request has expired meanwhile. So there is neither
                // a result to return nor a content to send.
                throw .storage
            }
            let draft = order.draft(from: sender, upload, at: backend.time.now)
            outcome = await send(draft, to: order.audience, request: request) {
                .rich($0, message: order.message, type: order.type)
            }
        } catch {
            await upload.abandon()
            throw error
        }
        if outcome.keepsContent { upload.finish() } else { await upload.abandon() }
        return try outcome.result.get()
    }

    /// Begins an upload. If the request is a repetition, its content is already stored and is only compared. A new
    /// upload is refused at once if the hub cannot send.
    private func upload(
        from sender: UserName, atLeast count: Int64, _ key: IdempotencyKey?
    ) async throws(BackendError) -> PayloadUpload {
        guard let key else {
            _ = try backend.hub.sending()
            return try await PayloadUpload(backend, sender: sender, atLeast: count)
        }
        let known = try await backend.stored { () throws(StorageError) in
            try await backend.sends.sendRecord(key.digest, at: backend.time.now)
        }
        guard known == nil else { return try PayloadUpload(comparedBy: backend, sender: sender) }
        _ = try backend.hub.sending()
        var upload = try await PayloadUpload(backend, sender: sender, atLeast: count)
        do throws(BackendError) {
            try upload.hash()
            return upload
        } catch {
            await upload.abandon()
            throw error
        }
    }
}
