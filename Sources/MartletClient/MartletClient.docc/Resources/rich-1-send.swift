import MartletClient

func sendPicture(_ path: String, to users: [String], client: PushClient) async throws(PushClientError) {
    try await client.sendRich(
        .file(path), to: .users(users), message: "Look at this!", type: "img", contentType: "image/png")
}
