import MartletHTTP
import MartletModel
import MartletServer

/// `martlet hub limits`: shows and sets the limits of a hub.
enum LimitCommand {
    static let command = Command(
        "hub limits", operands: ["NAME"], "Print the limits of a hub and its unfinished work, or change the limits.",
        options: [
            .data, .adminSocket,
            Option("requests", "N|usual", "Requests a second for each of its access keys."),
            Option("backlog", "N|usual", "Unfinished notifications; sends beyond it get 429."),
            .json(
                "requestRate and backlog, null for the usual ones; usual; and unfinished with notifications and bytes"),
        ]
    ) { invocation in
        var changes: [String: JSON] = [:]
        if let rate = try number("requests", invocation) { changes["requestRate"] = rate }
        if let backlog = try number("backlog", invocation) { changes["backlog"] = backlog }
        let path = "/hubs/\(segment(invocation.operand("NAME")))/limits"
        let administration = try Administration(invocation)
        let limits =
            changes.isEmpty
            ? try await administration.call(.get, path)
            : try await administration.call(.put, path, body: .object(changes))
        guard !invocation.printJSON(limits) else { return }
        print("requests a second of each access key", "requestRate", limits)
        print("unfinished notifications", "backlog", limits)
        let unfinished = limits["unfinished"]
        Terminal.print(
            "now unfinished: \(unfinished?["notifications"]?.integer ?? 0), with "
                + "\(unfinished?["bytes"]?.integer ?? 0) bytes")
    }

    private static func number(_ name: String, _ invocation: Invocation) throws(UsageError) -> JSON? {
        try invocation.optional(name, as: "a number, or usual") { text in
            text == "usual" ? JSON.null : Int64(text).map(JSON.integer)
        }
    }

    private static func print(_ name: String, _ member: String, _ limits: JSON) {
        if let own = limits[member]?.integer {
            Terminal.print("\(name): \(own)")
        } else {
            Terminal.print("\(name): \(limits["usual"]?[member]?.integer ?? 0), as usual")
        }
    }
}
