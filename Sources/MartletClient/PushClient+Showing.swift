extension PushClient {
    /// Returns the notification to show for a push. If the push only refers to its content, the content is fetched.
    /// Encrypted content is decrypted.
    ///
    /// Intended for the handler of silent pushes, which shows the result as a local notification, and for a
    /// notification service extension. A notification always has a text: if the content is not available, the sender's
    /// text for that case or a text of `words` is used.
    /// - Parameters:
    ///   - content: The content of the push.
    ///   - folder: The folder for downloaded pictures, sounds and videos; nil means that they are not downloaded. The
    ///     app must remove the files when they are no longer needed.
    ///   - words: The texts that are used if the sender gave none.
    ///   - limit: How long this may take, which should be the time that the system grants an app in the background.
    ///     When the time is over or the task is cancelled, the content counts as not available.
    /// - Returns: nil if the push is not Martlet's.
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

    /// Returns `plain` with the content of the push, which is fetched and decrypted if needed.
    /// - Parameter plain: The notification that is returned if the content cannot be fetched.
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
            // Nothing to do: `shown` is already the notification for content that is not available.
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
