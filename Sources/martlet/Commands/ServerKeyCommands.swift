import MartletHTTP
import MartletModel
import MartletServer

/// `martlet server-key …`: manages the keys with which the server seals its secrets.
enum ServerKeyCommands {
    static let all = [list, rotate, retire]

    private static let status = Option.json("keys, their ids, newest first; and left, how much older ones seal")

    static let list = Command(
        "server-key list", "Print the ids of the server's keys, newest first, and how much the older ones seal.",
        options: [.data, .adminSocket, status]
    ) { invocation in
        let status = try await Administration(invocation).call(.get, "/server-key")
        guard !invocation.printJSON(status) else { return }
        for id in ids(status) { Terminal.print(id) }
        Terminal.print("sealed with older keys: \(left(status))")
    }

    static let rotate = Command(
        "server-key rotate", "Make a new key and seal everything anew with it, while the server serves.",
        options: [
            .data, .adminSocket,
            Option("retire", nil, "Then remove the older keys, without which older copies of the data do not open."),
            Confirmation.option, status,
        ]
    ) { invocation in
        if invocation.isOn("retire") { try confirmRetirement(invocation) }
        let administration = try Administration(invocation)
        var status = try await administration.call(.post, "/server-key")
        while left(status) > 0 { status = try await administration.call(.post, "/server-key/reseal") }
        if invocation.isOn("retire") {
            invocation.report("Everything is sealed with key \(ids(status).first ?? "").")
            try await removeOlder(administration, invocation)
        } else if !invocation.printJSON(status) {
            Terminal.print("Everything is sealed with key \(ids(status).first ?? "").")
            Terminal.print("Nothing uses the older keys any more: 'martlet server-key retire' removes them.")
        }
    }

    static let retire = Command(
        "server-key retire", "Remove the keys that nothing is sealed with any more.",
        options: [.data, .adminSocket, Confirmation.option, status]
    ) { invocation in
        try confirmRetirement(invocation)
        let administration = try Administration(invocation)
        while left(try await administration.call(.post, "/server-key/reseal")) > 0 {}
        try await removeOlder(administration, invocation)
    }

    private static func confirmRetirement(_ invocation: Invocation) throws {
        try Confirmation.require(
            invocation, typing: "retire", "Retiring keys makes backups unreadable that only they can open")
    }

    private static func removeOlder(
        _ administration: Administration, _ invocation: Invocation
    ) async throws {
        let status = try await administration.call(.delete, "/server-key")
        guard !invocation.printJSON(status) else { return }
        Terminal.print("Key \(ids(status).joined(separator: ", ")) is the only one.")
    }

    private static func ids(_ status: JSON) -> [String] { (status["keys"]?.array ?? []).compactMap(\.string) }
    private static func left(_ status: JSON) -> Int64 { status["left"]?.integer ?? 0 }
}
