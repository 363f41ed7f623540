import MartletClient

/// Returns a line for the screen if the message was not sent.
func send(_ text: String, to recipient: String, client: PushClient) async -> String? {
    do throws(PushClientError) {
        try await client.send(Message(text: .plain(text)), to: .user(recipient))
        return nil
    } catch {
        return "Not sent: \(error)"
    }
}
