import MartletClient

/// What the user types to notify somebody.
enum Command {
    case text(String, to: String)
    case rich(path: String, message: String, to: String)
    case secret(String, to: String)
    case encrypted(String, to: String)

    struct NotUnderstood: Error, CustomStringConvertible {
        let description =
            "type 'text USER TEXT', 'rich USER FILE MESSAGE', 'secure USER TEXT', 'encrypt USER TEXT' or 'quit'"
    }

    init(_ line: String) throws {
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        guard words.count == 3 else { throw NotUnderstood() }
        let rest = words[2].split(separator: " ", maxSplits: 1).map(String.init)
        switch words[0] {
        case "text": self = .text(words[2], to: words[1])
        case "rich" where rest.count == 2: self = .rich(path: rest[0], message: rest[1], to: words[1])
        case "secure": self = .secret(words[2], to: words[1])
        case "encrypt": self = .encrypted(words[2], to: words[1])
        default: throw NotUnderstood()
        }
    }

    func run(_ client: PushClient) async throws {
        switch self {
        case .text(let text, let user):
            try await client.send(Message(text: .plain(text)), to: .user(user))
        case .rich(let path, let message, let user):
            try await client.sendRich(
                .file(path), to: .user(user), message: message, type: "img", contentType: "image/png")
        case .secret(let text, let user):
            try await client.sendSecure(text, to: .user(user), message: "Log in to read a secret.")
        case .encrypted(let text, let user):
            try await client.sendEncrypted(text, to: user, message: "Somebody wrote to you.")
        }
    }
}
