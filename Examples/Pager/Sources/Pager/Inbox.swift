import Foundation
import MartletClient

/// Shows what is pushed to this pager, after fetching or decrypting what has to be.
struct Inbox {
    let client: PushClient
    /// Where pictures go.
    let folder: String

    /// Shows one notification, and tells the server that it came.
    func take(_ content: PushContent) async {
        do {
            if let line = try await line(for: content) { Console.show(line) }
            await client.received(content)
        } catch {
            Console.complain("pager: \(error)")
        }
    }

    /// - Returns: nil for what is not Martlet's.
    private func line(for content: PushContent) async throws -> String? {
        switch content {
        case .text(let notification):
            return [notification.title, notification.text].compactMap { $0 }.joined(separator: ": ")
        case .rich(let reference): return line(for: try await client.fetch(reference, to: "\(folder)/\(reference.id)"))
        case .secure(let reference): return line(for: try await client.fetch(reference))
        case .encrypted(let reference): return line(for: try await client.fetch(reference))
        case .other: return nil
        }
    }

    private func line(for rich: Fetched<RichNotification>) -> String {
        switch rich {
        case .content(let rich): "\(rich.message) [\(rich.contentType) in \(folder)/\(rich.id)]"
        case .logInNeeded(let prompt): line(for: prompt)
        }
    }

    private func line(for secret: Fetched<SecureNotification>) -> String {
        switch secret {
        case .content(let secret): "secret: \(secret.text)"
        case .logInNeeded(let prompt): line(for: prompt)
        }
    }

    private func line(for message: Fetched<DecryptedMessage>) -> String {
        switch message {
        case .content(let message): "encrypted: \(message.text ?? "no text")"
        case .logInNeeded(let prompt): line(for: prompt)
        }
    }

    /// In the sender's words, else in ours; never silence.
    private func line(for prompt: LogInPrompt) -> String {
        prompt.message ?? "There is something for you: log in to see it."
    }
}
