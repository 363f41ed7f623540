import MartletBackend
import MartletCore
import MartletHTTP
import MartletModel

/// Lists the audit log: which user fetched which payload, and which fetches were refused.
struct AuditAdministration: Sendable {
    private static let limits = 1...10_000

    let store: any PayloadStore

    func addRoutes(to router: inout Router) {
        router.on(.get, "/audit") { _, match in
            do throws(BadQuery) {
                return await list(try query(match.target))
            } catch {
                return HTTPResponse(.badRequest, error: error.sentence)
            }
        }
    }

    private struct BadQuery: Error {
        let sentence: String
    }

    private func query(_ target: HTTPTarget) throws(BadQuery) -> AuditQuery {
        var query = AuditQuery(limit: 100)
        if let text = target.item("payload")?.value {
            guard let id = PayloadID(text) else { throw BadQuery(sentence: "The id of a payload is a number from 1.") }
            query.payload = id
        }
        if let text = target.item("user")?.value {
            do throws(UserNameError) {
                query.user = try UserName(text).folded
            } catch {
                throw BadQuery(sentence: error.description)
            }
        }
        if let text = target.item("limit")?.value {
            guard let limit = Int(text), Self.limits.contains(limit) else {
                throw BadQuery(sentence: "1 to \(Self.limits.upperBound) entries are listed at once.")
            }
            query.limit = limit
        }
        return query
    }

    private func list(_ query: AuditQuery) async -> HTTPResponse {
        do throws(StorageError) {
            return HTTPResponse(.ok, json: .array(try await store.auditEntries(query).map { entry($0.access) }))
        } catch {
            return HTTPResponse(.serviceUnavailable, error: error.detail)
        }
    }

    private func entry(_ access: PayloadAccess) -> JSON {
        [
            "at": .string(access.at.iso8601), "outcome": .string(access.outcome.rawValue),
            "payload": .integer(Int64(access.payload.rawValue)), "user": .string(access.user),
            "address": .string(access.address),
        ]
    }
}
