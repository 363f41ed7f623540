import MartletHTTP
import MartletModel
import MartletServer

/// `martlet dead-letters` and `martlet resend`: list pushes that ended without success, and send them again.
enum DeadLetterCommands {
    static let all = [list, resend]

    private static let list = Command(
        "dead-letters", operands: ["HUB", "[NOTIFICATION]"],
        "List the notifications that have dead letters (pushes that ended without success), or the dead letters of one "
            + "NOTIFICATION with their reasons.",
        options: [
            .data, .adminSocket,
            Option("json", nil, "Print everything that is known, as JSON: one document for each page."),
        ]
    ) { invocation in
        let hub = segment(invocation.operand("HUB"))
        let id = invocation.optionalOperand("NOTIFICATION")
        let path = "/hubs/\(hub)" + (id.map { "/messages/\(segment($0))" } ?? "") + "/deadletters"
        let administration = try Administration(invocation)
        var query = ""
        while true {
            let page = try await administration.call(.get, path + query)
            if invocation.isOn("json") {
                Terminal.print(String(decoding: page.bytes, as: UTF8.self))
            } else {
                for line in lines(of: page, isFirst: query.isEmpty) { Terminal.print(Terminal.singleLine(line)) }
            }
            guard let next = page["continuation"]?.string else { return }
            query = "?continuation=\(segment(next))"
        }
    }

    private static let resend = Command(
        "resend", operands: ["HUB", "NOTIFICATION"],
        "Send the dead letters of NOTIFICATION again, after their cause was fixed: to those of their devices that are "
            + "still registered and still in the audience. Prints the id of the new notification.",
        options: [
            .data, .adminSocket, Option("outcome", "NAME", "Only those with this outcome, such as InvalidCredentials."),
            .json("notification"),
        ]
    ) { invocation in
        let hub = segment(invocation.operand("HUB"))
        let id = segment(invocation.operand("NOTIFICATION"))
        let query = invocation["outcome"].map { "?outcome=\(segment($0))" } ?? ""
        let answer = try await Administration(invocation)
            .call(.post, "/hubs/\(hub)/messages/\(id)/deadletters/resend\(query)")
        if !invocation.printJSON(answer) { Terminal.print(answer["notification"]?.string ?? "") }
    }

    /// Returns the lines for one page of a listing, of notifications or of dead letters.
    static func lines(of page: JSON, isFirst: Bool) -> [String] {
        if let notifications = page["notifications"]?.array {
            let heading = isFirst ? ["NOTIFICATION  ACCEPTED  STATE  OUTCOMES BY PLATFORM"] : []
            guard notifications.isEmpty, isFirst else { return heading + notifications.map(line(notification:)) }
            return ["No notification of the hub has dead letters."]
        }
        let deadLetters = page["deadLetters"]?.array ?? []
        let none = deadLetters.isEmpty && isFirst ? ["It has no dead letters."] : []
        let heading = deadLetters.isEmpty ? [] : ["WHEN  PLATFORM  DEVICE  OUTCOME  REASON AND HANDLE"]
        return (isFirst ? [line(notification: page)] + heading : []) + deadLetters.map(line(letter:)) + none
    }

    private static func line(notification entry: JSON) -> String {
        let counts = (entry["platforms"]?.object ?? [:]).sorted { $0.key < $1.key }.flatMap { platform, outcomes in
            (outcomes.object ?? [:]).sorted { $0.key < $1.key }.map { name, count in
                "\(platform) \(count.integer ?? 0) \(name)"
            }
        }
        let head = ["notification", "acceptedAt", "state"].compactMap { entry[$0]?.string }
        return (head + counts).joined(separator: "  ")
    }

    private static func line(letter: JSON) -> String {
        let device = letter["installation"]?.string ?? letter["registration"]?.string ?? "(no registration)"
        let parts = [
            letter["at"]?.string, letter["platform"]?.string, device, letter["outcome"]?.string,
            letter["reason"]?.string, letter["token"]?.string.map { "handle \($0)" },
            letter["resentAs"]?.string.map { "sent again as \($0)" },
        ]
        return parts.compactMap(\.self).joined(separator: "  ")
    }
}
