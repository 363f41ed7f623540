import MartletClient

func send(_ text: String, to recipient: String, client: PushClient) async throws(PushClientError) {
    try await client.send(Message(text: .plain(text)), to: .user(recipient))
}
