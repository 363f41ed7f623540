import MartletClient
import MartletNetwork
import MartletServer

/// `martlet notify`: a message from one user to another, through the app backend.
enum NotifyCommand {
    static let command = Command(
        "notify", operands: ["TEXT"], "Send a text from one user to another and print the notification's id.",
        options: [
            Option("backend", "URL", "The server with the app backend."),
            Option("user", "NAME", "Who sends."),
            UserCommands.passwordFromInput,
            Option("to", "NAME", "Whose devices show it."),
            Option("platform", "NAME", "The platform of the devices.", default: Platforms.names.first),
            Option("ca-file", "FILE", "The authority to trust at the backend instead of the system's."),
        ]
    ) { invocation in
        let recipient = try invocation.required("to")
        let user = try invocation.required("user")
        let backend = try invocation.required("backend")
        let password = try invocation.readPassword()
        let client = PushClient(
            server: try ServerAddress(backend),
            transport: NetworkTransport(
                HTTPClient(loops: try EventLoopGroup(count: 1)),
                trusting: try invocation["ca-file"].map { try TextFile.readText($0) }),
            retry: .once)
        try await client.logIn(user: user, password: password)
        let id = try await client.send(
            invocation.operand("TEXT"), to: recipient, platform: invocation["platform"] ?? "")
        Terminal.print(id)
        await client.logOut()
    }
}
