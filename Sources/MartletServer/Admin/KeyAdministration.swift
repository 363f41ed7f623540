import MartletHTTP
import MartletModel

/// The part of the administration API that manages the keys with which the server seals secrets.
///
/// The body of every answer is `{"keys": [id…], "left": n}`: the ids of the keys, newest first, and the number of secrets
/// that are sealed with an older key than the newest.
///
/// | request | answer |
/// |---|---|
/// | `GET /server-key` | 200 |
/// | `POST /server-key` | 201; a new key has been added |
/// | `POST /server-key/reseal` | 200 after some seconds of work; the request is to be repeated until `left` is 0 |
/// | `DELETE /server-key` | 200; all keys but the newest have been removed |
struct KeyAdministration: Sendable {
    let rotation: KeyRotation

    func addRoutes(to router: inout Router) {
        router.on(.get, "/server-key") { _, _ in
            await answer(.ok) { () throws(ServerError) in try await rotation.status() }
        }
        router.on(.post, "/server-key") { _, _ in
            await answer(.created) { () throws(ServerError) in try await rotation.rotate() }
        }
        router.on(.post, "/server-key/reseal") { _, _ in
            await answer(.ok) { () throws(ServerError) in try await rotation.reseal() }
        }
        router.on(.delete, "/server-key") { _, _ in
            await answer(.ok) { () throws(ServerError) in try await rotation.retire() }
        }
    }

    private func answer(
        _ status: HTTPStatus, _ work: () async throws(ServerError) -> KeyRotation.Status
    ) async -> HTTPResponse {
        do throws(ServerError) {
            let found = try await work()
            return HTTPResponse(
                status, json: ["keys": .array(found.ids.map { .string($0) }), "left": .integer(found.left)])
        } catch {
            return HTTPResponse(.conflict, error: error.description)
        }
    }
}
