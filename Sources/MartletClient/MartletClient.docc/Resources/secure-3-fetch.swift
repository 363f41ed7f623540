import MartletClient

/// Returns the text to show; nil if there is nothing to fetch.
func receive(_ content: PushContent, client: PushClient) async throws(PushClientError) -> String? {
    guard case .secure(let reference) = content else { return nil }
    switch try await client.fetch(reference) {
    case .content(let secret):
        await client.received(content)
        return secret.text
    case .logInNeeded(let prompt):
        return prompt.message ?? "Open the app and log in to see what you were sent."
    }
}
