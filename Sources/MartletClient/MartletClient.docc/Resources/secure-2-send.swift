import MartletClient

func sendSecret(_ text: String, to user: String, client: PushClient) async throws(PushClientError) -> Int32 {
    try await client.sendSecure(
        text, to: .user(user), message: "Your bank has a message for you.", once: true, expiresIn: .seconds(86_400))
}
