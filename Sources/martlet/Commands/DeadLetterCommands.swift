import MartletHTTP
import MartletModel
import MartletServer

/// `martlet dead-letters` and `martlet resend`: what ended without success, and sending it again.
enum DeadLetterCommands {
    static let all = [list, resend]

    private static let list = Command(
        "dead-letters", operands: ["HUB", "[MESSAGE]"],
        "List what ended without success: the messages that have dead letters, or those of one MESSAGE with the reason of "
            + "each.",
        options: [.data, Option("json", nil, "Print everything that is known, as JSON: one document for each page.")]
    ) { invocation in
        let hub = segment(invocation.operand("HUB"))
        let message = invocation.optionalOperand("MESSAGE")
        let path = "/hubs/\(hub)" + (message.map { "/messages/\(segment($0))" } ?? "") + "/deadletters"
        let administration = try Administration(invocation)
        var query = ""
        while true {
            let page = try await administration.call(.get, path + query)
            if invocation.isOn("json") {
                Terminal.print(String(decoding: page.bytes, as: UTF8.self))
            } else if message == nil {
                for entry in page["messages"]?.array ?? [] { print(message: entry) }
            } else {
                if query.isEmpty { print(message: page) }
                for letter in page["letters"]?.array ?? [] { print(letter: letter) }
            }
            guard let next = page["continuation"]?.string else { return }
            query = "?continuation=\(segment(next))"
        }
    }

    private static let resend = Command(
        "resend", operands: ["HUB", "MESSAGE"],
        "Send the dead letters of MESSAGE again, once their cause is mended: to those of their devices that are still "
            + "registered and still in the audience. Prints the id of the new message.",
        options: [.data, Option("outcome", "NAME", "Only those that ended so, such as InvalidCredentials.")]
    ) { invocation in
        let hub = segment(invocation.operand("HUB"))
        let message = segment(invocation.operand("MESSAGE"))
        let query = invocation["outcome"].map { "?outcome=\(segment($0))" } ?? ""
        let answer = try await Administration(invocation)
            .call(.post, "/hubs/\(hub)/messages/\(message)/deadletters/resend\(query)")
        Terminal.print(answer["id"]?.string ?? "")
    }

    private static func print(message entry: JSON) {
        let counts = (entry["platforms"]?.object ?? [:]).sorted { $0.key < $1.key }.flatMap { platform, outcomes in
            (outcomes.object ?? [:]).sorted { $0.key < $1.key }.map { name, count in
                "\(platform) \(count.integer ?? 0) \(name)"
            }
        }
        let head = ["message", "acceptedAt", "state"].compactMap { entry[$0]?.string }
        Terminal.print(Terminal.singleLine((head + counts).joined(separator: "  ")))
    }

    private static func print(letter: JSON) {
        let device = letter["installation"]?.string ?? letter["registration"]?.string ?? "(no registration)"
        let parts = [
            letter["at"]?.string, letter["platform"]?.string, device, letter["outcome"]?.string,
            letter["reason"]?.string, letter["resentAs"]?.string.map { "sent again as \($0)" },
        ]
        Terminal.print(Terminal.singleLine(parts.compactMap(\.self).joined(separator: "  ")))
    }
}
