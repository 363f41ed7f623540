import MartletClient

enum Service: String, CaseIterable {
    case wns = "WNS"
    case gcm = "GCM"
    case apns = "APNS"
}

func send(
    _ text: String, to recipient: String, by services: Set<Service>, client: PushClient
) async throws(PushClientError) {
    for service in Service.allCases where services.contains(service) {
        try await client.send(text, to: recipient, platform: Platform(rawValue: service.rawValue.lowercased()))
    }
}
