import MartletClient

func sendSecret(_ text: String, to user: String, client: PushClient) async throws(PushClientError) -> Int32 {
    try await client.sendSecure(text, to: .user(user))
}
