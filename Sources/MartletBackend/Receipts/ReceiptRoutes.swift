import MartletCore
import MartletHTTP

/// Accepts receipts from devices.
struct ReceiptRoutes: Sendable {
    let backend: Backend

    func add(to router: inout Router) {
        router.on(.post, "/api/receipts", bodyLimit: ReceiptBody.sizeLimit, streamsBody: true) { request, _ in
            await backend.answer(collecting: request) { (caller, request) throws(BackendError) in
                try await add(try ReceiptBody(request), from: caller.name)
                return HTTPResponse(.noContent)
            }
        }
    }

    private func add(_ body: ReceiptBody, from user: UserName) async throws(BackendError) {
        let source = ReceiptSource(
            hub: try backend.hub.hub().id, device: body.device, user: user.folded, tag: user.tag)
        try await backend.stored { () throws(StorageError) in
            try await backend.receipts.addReceipts(body.receipts, from: source, at: backend.time.now)
        }
    }
}
