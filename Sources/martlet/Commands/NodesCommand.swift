import MartletHTTP
import MartletModel
import MartletServer

/// `martlet nodes`: lists the nodes that share a database.
enum NodesCommand {
    static let command = Command(
        "nodes", "List the nodes that share the server's database: those that live, and those that ended within a day.",
        options: [
            .data, .adminSocket,
            .json(
                "answering, the incarnation of the node that answers; and nodes with incarnation, name, version, startedAt, "
                    + "renewedAt, isAlive and hubs"),
        ]
    ) { invocation in
        let answer = try await Administration(invocation).running(.get, "/nodes")
        guard !invocation.printJSON(answer) else { return }
        guard let answering = answer["answering"]?.integer else {
            return Terminal.print("This server shares its data with no other node.")
        }
        for node in answer["nodes"]?.array ?? [] {
            Terminal.print(Terminal.singleLine(line(node, answering: answering)))
        }
    }

    private static func line(_ node: JSON, answering: Int64) -> String {
        let incarnation = node["incarnation"]?.integer ?? 0
        let isAlive = node["isAlive"]?.bool == true
        let parts = [
            node["name"]?.string ?? "", "incarnation \(incarnation)", node["version"]?.string ?? "",
            isAlive ? "alive" : "ended", "since \(node["startedAt"]?.string ?? "")",
            "renewed \(node["renewedAt"]?.string ?? "")", (node["hubs"]?.integer ?? 0).counted("hub"),
            incarnation == answering ? "answers" : nil,
        ]
        return parts.compactMap { $0?.isEmpty == false ? $0 : nil }.joined(separator: "  ")
    }
}
