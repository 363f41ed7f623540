extension PushClient {
    /// What to show of a push, with what it announced: fetched, and decrypted where that is needed.
    ///
    /// For the handler of silent pushes, which shows it as a local notification, and for a notification service
    /// extension. Nothing is ever thrown and nothing left unsaid: where the content cannot be had, the sender's words
    /// for that are shown, or `words`.
    /// - Parameters:
    ///   - content: What the push brought.
    ///   - folder: Where the files of pictures, sounds and films go; nil leaves them at the server. The app removes them.
    ///   - words: Where the sender gave none.
    ///   - limit: How long that may take, which is what systems grant an app in the background; then, and where the task
    ///     is cancelled, it is as if the content could not be had.
    /// - Returns: nil for a push that is not Martlet's.
    public func notification(
        for content: PushContent, folder: String? = nil, words: NotificationTexts = NotificationTexts(),
        within limit: Duration = .seconds(25)
    ) async -> NotificationContent? {
        guard let plain = NotificationContent(content, words: words) else { return nil }
        let work = Task { await filled(plain, content, folder: folder, words: words) }
        let clock = Task { [environment] in
            guard (try? await environment.timeLimit(limit)) != nil else { return }
            work.cancel()
        }
        defer { clock.cancel() }
        return await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
    }

    /// - Parameter plain: What is shown without a server.
    private func filled(
        _ plain: NotificationContent, _ content: PushContent, folder: String?, words: NotificationTexts
    ) async -> NotificationContent {
        var shown = plain
        do throws(PushClientError) {
            switch content {
            case .text, .other: break
            case .rich(let reference):
                guard let folder else { break }
                let path = "\(folder)/notification-\(reference.id)"
                shown.show(try await fetch(reference, to: path), words: words) { shown, notification in
                    shown.attachment = Self.attachment(notification, at: path)
                }
            case .secure(let reference):
                shown.show(try await fetch(reference), words: words) { $0.body = $1.text }
            case .encrypted(let reference):
                shown.show(try await fetch(reference), words: words) { $0.body = $1.text ?? words.notAvailable }
            }
        } catch {
            // What is shown without a server is shown already.
        }
        return shown
    }

    private static func attachment(_ notification: RichNotification, at path: String) -> String? {
        guard let ending = AttachmentName.ending(for: notification.contentType),
            PrivateFile.move(path, to: "\(path).\(ending)")
        else {
            PrivateFile.remove(path)
            return nil
        }
        return "\(path).\(ending)"
    }
}
