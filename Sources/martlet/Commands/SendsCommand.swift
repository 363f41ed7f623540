import MartletHTTP
import MartletModel
import MartletServer

/// `martlet sends`: lists the sends of a hub, newest first.
enum SendsCommand {
    private static let common = 20

    static let command = Command(
        "sends", operands: ["HUB"],
        "List the sends of a hub, newest first, with their authors. Contents are not shown.",
        options: [
            .data, .adminSocket,
            Option(
                "author", "AUTHOR",
                "Only sends of this author: key:RULE, user:NAME, operator:NAME or administrator; resend for all resends of "
                    + "dead letters, resend:ID for those of one send."),
            Option("state", "STATE", "Only sends that are scheduled, running, held or ended."),
            Option("limit", "COUNT", "How many to list, at most 200; the default is \(common)."),
            .json("each send with its counts; a line for each"),
        ]
    ) { invocation in
        var query = ["limit=\(segment(invocation["limit"] ?? String(common)))"]
        for name in ["author", "state"] {
            if let value = invocation[name] { query.append("\(name)=\(segment(value))") }
        }
        let path = "/hubs/\(segment(invocation.operand("HUB")))/sends?" + query.joined(separator: "&")
        let page = try await Administration(invocation).call(.get, path)
        for send in page["sends"]?.array ?? [] where !invocation.printJSON(send) {
            Terminal.print(Terminal.singleLine(line(send)))
        }
        if page["isPartial"]?.bool == true {
            invocation.report("Only the latest 20,000 sends of all hubs were searched.")
        }
    }

    private static func line(_ send: JSON) -> String {
        let control = send["control"]?.string ?? "running"
        let target =
            send["isDirect"]?.bool == true
            ? "to \((send["handles"]?.integer ?? 0).counted("handle"))"
            : "to \(send["expression"]?.string ?? "everybody")"
        let parts = [
            send["id"]?.string ?? "", send["acceptedAt"]?.string ?? "", send["state"]?.string ?? "",
            ["running", "canceled"].contains(control) ? nil : control, send["author"]?.string ?? "-", target,
            "succeeded \(send["succeeded"]?.integer ?? 0)", "failed \(send["failed"]?.integer ?? 0)",
        ]
        return parts.compactMap(\.self).joined(separator: "  ")
    }
}
