import MartletHTTP
import MartletModel

/// `martlet audit`: lists who has read rich and secure notifications, and who was refused.
enum AuditCommand {
    static let command = Command(
        "audit",
        "Print the fetches and refusals of notifications that stay on the server, newest last: time, outcome, id, user "
            + "and address.",
        options: [
            .data, .adminSocket,
            Option("payload", "ID", "Only entries about this notification, by the id in its pushes."),
            Option("user", "NAME", "Only entries about this user."),
            Option("limit", "N", "The maximum number of lines; the latest are printed.", default: "100"),
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
