import MartletClient
import MartletModel
import MartletServer

/// `martlet readers`: lists who has read a notification that a user sent.
enum ReadersCommand {
    static let command = Command(
        "readers", operands: ["ID"],
        "Print the users who may read a notification that you sent, and when each has read it.",
        options: [
            Option("backend", "URL", "The server with the app backend."),
            Option("user", "NAME", "The user who sent it."),
            UserCommands.passwordFromInput,
            Option("ca-file", "FILE", "The authority to trust for the backend instead of the system's."),
            .json("user and readAt, null for not yet; a line for each reader"),
        ]
    ) { invocation in
        let user = try invocation.required("user")
        let backend = try invocation.required("backend")
        guard let id = Int32(invocation.operand("ID")) else {
            throw UsageError(
                description: "ID is the number that 'martlet notify' printed.", command: invocation.command)
        }
        let password = try invocation.readPassword()
        let client = try await invocation.logIn(user, password: password, at: backend)
        for reader in try await client.readers(of: id) {
            let readAt = time(of: reader)
            let line: JSON = ["user": .string(reader.user), "readAt": readAt.map { .string($0) } ?? .null]
            guard !invocation.printJSON(line) else { continue }
            Terminal.print(Terminal.singleLine("\(reader.user)  \(readAt ?? "not yet")"))
        }
        await client.logOut()
    }

    private static func time(of reader: PayloadReader) -> String? {
        reader.readAt.map { Timestamp(milliseconds: Int64($0 / .milliseconds(1))).iso8601 }
    }
}
