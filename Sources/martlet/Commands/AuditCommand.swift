import MartletHTTP
import MartletModel

/// `martlet audit`: lists who has read rich and secure notifications, and who was refused.
enum AuditCommand {
    static let command = Command(
        "audit",
        "Print who has fetched notifications that stay on the server, and who was refused, newest last: time, outcome, "
            + "id, user and address.",
        options: [
            .data, .adminSocket,
            Option("payload", "ID", "Only what concerns this notification, by the id that pushes carry."),
            Option("user", "NAME", "Only what this user did."),
            Option("limit", "N", "The most lines; of more, the latest.", default: "100"),
            .json("at, outcome, payload, user and address; a line for each entry"),
        ]
    ) { invocation in
        _ = try invocation.count("limit", upTo: 10_000)
        let items = ["payload", "user", "limit"].compactMap { name in
            invocation[name].map { "\(name)=\(segment($0))" }
        }
        let entries = try await Administration(invocation).call(.get, "/audit?\(items.joined(separator: "&"))")
        for entry in entries.array ?? [] where !invocation.printJSON(entry) { Terminal.print(line(entry)) }
    }

    private static func line(_ entry: JSON) -> String {
        let texts = ["at", "outcome", "payload", "user", "address"].map { name in
            entry[name]?.string ?? entry[name]?.integer.map { String($0) } ?? ""
        }
        return texts.map { $0.isEmpty ? "-" : $0 }.joined(separator: " ")
    }
}
