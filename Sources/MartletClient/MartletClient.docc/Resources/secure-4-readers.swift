import MartletClient

func isRead(_ id: Int32, by user: String, client: PushClient) async throws(PushClientError) -> Bool {
    try await client.readers(of: id).contains { $0.user == user && $0.readAt != nil }
}
