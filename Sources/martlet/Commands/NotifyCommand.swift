import MartletClient
import MartletModel
import MartletServer

/// `martlet notify`: sends a message from one user to others, through the app backend.
enum NotifyCommand {
    static let command = Command(
        "notify", operands: ["TEXT"],
        "Send a text from one user to all devices of others and print the notification's id.",
        options: [
            Option("backend", "URL", "The server with the app backend."),
            Option("user", "NAME", "The user who sends."),
            UserCommands.passwordFromInput,
            Option("to", "A,B", "Whose devices show it; with --platform those of one user."),
            Option("tags", "EXPR", "Whom it is for instead; the server asks for a role. Not with --platform."),
            Option("platform", "NAME", "Only the devices of this platform; without it those of all platforms."),
            Option("rich", "FILE", "Send this file, which devices fetch; TEXT is what they show with it."),
            Option("type", "WORD", "What the file is to apps: img, sound, url and the like; else told by its type."),
            Option("content-type", "TYPE", "The file's media type; where not given, its name tells."),
            Option("secure", nil, "TEXT stays at the server, and only its addressees' devices fetch it."),
            Option("once", nil, "With --secure: each can fetch it once."),
            Option(
                "message", "TEXT",
                "With --secure: what is shown where nobody is logged in. Without: further members of the message, as JSON, "
                    + "such as '{\"data\": {\"room\": \"17\"}}'."),
            Option("ca-file", "FILE", "The authority to trust at the backend instead of the system's."),
            .json("notification"),
        ]
    ) { invocation in
        let user = try invocation.required("user")
        let backend = try invocation.required("backend")
        let notification = try Notification(invocation)
        let password = try invocation.readPassword()
        let client = try await invocation.logIn(user, password: password, at: backend)
        let id = try await notification.send(by: client)
        if !invocation.printJSON(["notification": .string(id)]) { Terminal.print(id) }
        await client.logOut()
    }
}

/// The notification to send, with its recipients.
private enum Notification {
    case text(String, to: String, platform: String)
    case message(Message, to: Audience)
    case rich(path: String, message: String, type: String?, contentType: String, to: Audience)
    case secure(String, message: String?, once: Bool, to: Audience)

    init(_ invocation: Invocation) throws(UsageError) {
        let text = invocation.operand("TEXT")
        let platform = try invocation.optional("platform", as: "one of \(Platforms.formatsWithPlatforms)") {
            Platforms.platform(named: $0)
        }
        let others = [
            ("rich", invocation["rich"] != nil), ("secure", invocation.isOn("secure")),
            ("message", invocation["message"] != nil),
        ]
        if platform != nil, let (other, _) = others.first(where: \.1) {
            throw UsageError(
                description: "--platform is not for --\(other), which goes to all platforms.",
                command: invocation.command)
        }
        switch (invocation["rich"], invocation.isOn("secure")) {
        case (nil, false):
            if let platform {
                self = .text(text, to: try invocation.required("to"), platform: platform)
                return
            }
            let message = try invocation.optional("message", as: "the members of a message as JSON, without a text") {
                Message(members: $0, text: text)
            }
            self = .message(message ?? Message(text: .plain(text)), to: try Self.audience(invocation))
        case (let path?, false):
            self = .rich(
                path: path, message: text, type: invocation["type"],
                contentType: invocation["content-type"] ?? MediaType.ofFile(named: path),
                to: try Self.audience(invocation))
        case (nil, true):
            self = .secure(
                text, message: invocation["message"], once: invocation.isOn("once"), to: try Self.audience(invocation))
        case (_?, true):
            throw UsageError(description: "--rich and --secure exclude each other.", command: invocation.command)
        }
    }

    private static func audience(_ invocation: Invocation) throws(UsageError) -> Audience {
        switch (invocation["to"], invocation["tags"]) {
        case (nil, let expression?): return .tags(expression)
        case (let names?, nil): return .users(names.split(separator: ",").map(String.init))
        default:
            throw UsageError(
                description: "Give either --to or --tags.", command: invocation.command)
        }
    }

    /// Sends the notification.
    /// - Returns: The notification's id.
    func send(by client: PushClient) async throws(PushClientError) -> String {
        switch self {
        case .text(let text, let user, let platform):
            try await client.send(text, to: user, platform: Platform(rawValue: platform))
        case .message(let message, let audience): try await client.send(message, to: audience)
        case .rich(let path, let message, let type, let contentType, let audience):
            String(
                try await client.sendRich(
                    .file(path), to: audience, message: message, type: type, contentType: contentType))
        case .secure(let text, let message, let once, let audience):
            String(try await client.sendSecure(text, to: audience, message: message, once: once))
        }
    }
}

extension Message {
    /// Creates a message from a text, and from other members as JSON in the form that the server accepts.
    /// - Returns: nil if the JSON is not valid for a message of a user, or already contains a text.
    init?(members: String, text: String) {
        guard case .object(var object)? = try? JSON(parsing: Array(members.utf8)), object["text"] == nil else {
            return nil
        }
        object["text"] = .string(text)
        guard let composed = try? ComposedMessage(.object(object)), composed.platforms.isEmpty else { return nil }
        self.init(title: composed.title.map(Text.init), text: .plain(text), language: composed.language)
        subtitle = composed.subtitle.map(Text.init)
        variables = composed.variables
        (link, picture) = (composed.link, composed.picture)
        sound = composed.sound.map { sound in
            switch sound {
            case .default: .default
            case .none: Sound.none
            case .named(let name): .named(name)
            }
        }
        badge = composed.badge.map { badge in
            switch badge {
            case .number(let number): .number(number)
            case .increment: .increment
            }
        }
        data = composed.data
        actions = composed.actions.map { Action(id: $0.id, title: Text($0.title), link: $0.link) }
        priority = composed.priority.flatMap { Priority(rawValue: $0.rawValue) }
        (thread, collapse) = (composed.thread, composed.collapse)
        isTruncated = composed.isTruncated
    }
}

extension Message.Text {
    fileprivate init(_ text: LocalizedText) {
        switch text {
        case .plain(let text): self = .plain(text)
        case .byLanguage(let texts): self = .byLanguage(texts)
        }
    }
}
