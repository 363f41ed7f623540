import MartletHTTP
import MartletModel
import MartletServer

/// `martlet cluster …` and `martlet hub move`: the database clusters that hubs live on.
enum ClusterCommands {
    static let all = [add, list, remove, move]

    static let add = Command(
        "cluster add",
        "Add an empty database on PostgreSQL as a cluster that hubs can be moved to, and print its number. For a cluster "
            + "that is there already, change its address; the nodes use it at once.",
        options: [
            .data, .adminSocket,
            Option(
                "address", "URL", "The database, such as postgres://USER@HOST/NAME. All nodes must reach it.",
                isSecret: true),
            .json("number and isNew"),
        ]
    ) { invocation in
        let answer = try await Administration(invocation)
            .call(.post, "/clusters", body: ["address": .string(try invocation.required("address"))])
        guard !invocation.printJSON(answer) else { return }
        let number = answer["number"]?.integer ?? 0
        guard answer["isNew"]?.bool ?? true else {
            return Terminal.print(
                "Cluster \(number) was there already. Its address is stored, and the nodes use it within a second or so."
            )
        }
        Terminal.print("Cluster \(number). Move hubs to it: martlet hub move HUB --cluster \(number)")
    }

    static let list = Command(
        "cluster list", "List the database clusters, with the number of hubs on each.",
        options: [.data, .adminSocket, .json("number, address, hubs and obstacle; a line for each cluster")]
    ) { invocation in
        let answer = try await Administration(invocation).call(.get, "/clusters")
        for cluster in answer["clusters"]?.array ?? [] where !invocation.printJSON(cluster) {
            let parts = [
                "\(cluster["number"]?.integer ?? 0)", cluster["address"]?.string,
                (cluster["hubs"]?.integer ?? 0).counted("hub"), cluster["obstacle"]?.string,
            ]
            Terminal.print(Terminal.singleLine(parts.compactMap(\.self).joined(separator: "  ")))
        }
    }

    static let remove = Command(
        "cluster remove", operands: ["N"],
        "Remove a cluster that no hub is on. The nodes close their connections to it. Its database stays as it is.",
        options: [.data, .adminSocket, .quiet]
    ) { invocation in
        let number = invocation.operand("N")
        _ = try await Administration(invocation).call(.delete, "/clusters/\(segment(number))")
        invocation.report("Removed cluster \(number). Its database can be dropped.")
    }

    static let move = Command(
        "hub move", operands: ["HUB"],
        "Move a hub with all its devices and notifications to another database cluster, while the server runs. For the last "
            + "seconds, requests that change something in the hub are answered 503 with Retry-After.",
        options: [
            .data, .adminSocket, Option("cluster", "N", "The number of the cluster ('martlet cluster list')."), .quiet,
            .json("cluster, phase, copied, compared, refusedMilliseconds and failure"),
        ]
    ) { invocation in
        guard let cluster = try invocation.count("cluster", upTo: Int(Int32.max)) else {
            throw UsageError(description: "Give --cluster.", command: invocation.command)
        }
        let (administration, name) = (try Administration(invocation), invocation.operand("HUB"))
        let path = "/hubs/\(segment(name))/move"
        var state = try await administration.call(.post, path, body: ["cluster": .integer(Int64(cluster))])
        let display = ProgressDisplay(.items)
        defer { display.end() }
        while !["done", "failed"].contains(state["phase"]?.string) {
            display.show(state["copied"]?.integer ?? 0, notes: [state["phase"]?.string ?? ""])
            try await Task.sleep(for: .milliseconds(200))
            state = try await administration.running(.get, path)
        }
        display.end()
        if let failure = state["failure"]?.string { throw ServerError(failure) }
        guard !invocation.printJSON(state) else { return }
        let seconds = Double(state["refusedMilliseconds"]?.integer ?? 0) / 1000
        invocation.report(
            "The hub '\(name)' is on cluster \(cluster): \((state["compared"]?.integer ?? 0).grouped) rows, equal on both "
                + "sides. Its writes were refused for \(seconds) s.")
    }
}
