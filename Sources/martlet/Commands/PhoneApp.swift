import MartletClient
import MartletServer

/// The app on a simulated phone: it fetches or decrypts the notifications it receives, shows them, and sends receipts
/// to the server.
struct PhoneApp {
    let client: PushClient
    /// The directory in which rich content is saved; nil keeps it in memory.
    let folder: String?
    /// Whether the phone's user opens every notification.
    let opens: Bool
    let picture = TerminalPicture.ofThisProcess

    /// Prints a line for one notification, followed by its picture if there is a picture and the terminal can show it.
    func take(_ delivery: SimulatedPhone.Delivery) async {
        let content = PushContent(payload: delivery.payload)
        guard let shown = await show(content, delivery) else { return }
        Terminal.print(Terminal.singleLine(shown.line))
        if let picture = shown.picture { Terminal.print(picture) }
        await client.received(content)
        if opens { await client.opened(content) }
    }

    private func show(
        _ content: PushContent, _ delivery: SimulatedPhone.Delivery
    ) async -> (line: String, picture: String?)? {
        do throws(PushClientError) {
            switch content {
            case .rich(let reference): return try await show(reference)
            case .secure(let reference): return (try await line(reference), nil)
            case .encrypted(let reference): return (try await line(reference), nil)
            case .text(let notification): return (delivery.text ?? notification.text, nil)
            case .other: return delivery.text.map { ($0, nil) }
            }
        } catch {
            return ("cannot be shown: \(error)", nil)
        }
    }

    private func show(_ reference: RichReference) async throws(PushClientError) -> (line: String, picture: String?) {
        let path = folder.map { "\($0)/rich-\(reference.id)" }
        switch try await client.fetch(reference, to: path) {
        case .logInNeeded(let prompt): return (Self.line(prompt), nil)
        case .content(let rich):
            let bytes = Self.bytes(of: rich.content)
            let words = ["rich \(rich.id) \(rich.type) \(rich.contentType)", path].compactMap { $0 }
            return ("\(words.joined(separator: " ")): \(rich.message)", bytes.flatMap { picture?.text(showing: $0) })
        }
    }

    private func line(_ reference: SecureReference) async throws(PushClientError) -> String {
        switch try await client.fetch(reference) {
        case .logInNeeded(let prompt): Self.line(prompt)
        case .content(let secret): "secure \(secret.id): \(secret.text)"
        }
    }

    private func line(_ reference: EncryptedReference) async throws(PushClientError) -> String {
        switch try await client.fetch(reference) {
        case .logInNeeded(let prompt): Self.line(prompt)
        case .content(let message): "encrypted: \(message.text ?? "no text")"
        }
    }

    private static func line(_ prompt: LogInPrompt) -> String {
        "log in to see it: \(prompt.message ?? "there is a notification for you")"
    }

    private static func bytes(of content: PayloadContent) -> [UInt8]? {
        switch content {
        case .bytes(let bytes): bytes
        case .file(let path): try? TextFile.read(path, limit: 10 << 20)
        }
    }
}
