import MartletClient

/// Sends a text to a user, and returns an error message for the screen; nil if the text was sent.
func send(_ text: String, to recipient: String, client: PushClient) async -> String? {
    do throws(PushClientError) {
        try await client.send(Message(text: .plain(text)), to: .user(recipient))
        return nil
    } catch {
        return "Not sent: \(error)"
    }
}
