import MartletCore
import MartletHTTP
import MartletModel

/// Answers `GET /nodes` of the administration API with the nodes that share the database, the oldest first:
/// `{"answering", "nodes": [{"incarnation", "name", "version", "startedAt", "renewedAt", "isAlive", "hubs"}]}`.
/// `answering` is the incarnation of the node that answers. If the server's data is in the data directory, `answering`
/// is null and `nodes` is empty.
struct NodeAdministration: Sendable {
    let store: (any NodeStore)?

    func addRoutes(to router: inout Router) {
        router.on(.get, "/nodes") { _, _ in
            guard let store else { return HTTPResponse(.ok, json: ["answering": .null, "nodes": []]) }
            do throws(StorageError) {
                let nodes = try await store.nodes()
                return HTTPResponse(
                    .ok, json: ["answering": .integer(store.incarnation), "nodes": .array(nodes.map(Self.document))])
            } catch {
                return HTTPResponse(HTTPStatus(error), error: error.detail)
            }
        }
    }

    private static func document(_ node: NodeDescription) -> JSON {
        [
            "incarnation": .integer(node.incarnation), "name": .string(node.name), "version": .string(node.version),
            "startedAt": .string(node.startedAt.iso8601), "renewedAt": .string(node.renewedAt.iso8601),
            "isAlive": .bool(node.isAlive), "hubs": .integer(Int64(node.hubs)),
        ]
    }
}
