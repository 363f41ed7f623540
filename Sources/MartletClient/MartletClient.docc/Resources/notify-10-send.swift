import MartletClient

enum Service: String, CaseIterable {
    case wns = "WNS"
    case gcm = "GCM"
    case apns = "APNS"
}

/// Returns a line for each service that failed.
func send(_ text: String, to recipient: String, by services: Set<Service>, client: PushClient) async -> [String] {
    var results: [String] = []
    for service in Service.allCases where services.contains(service) {
        do throws(PushClientError) {
            try await client.send(text, to: recipient, platform: Platform(rawValue: service.rawValue.lowercased()))
        } catch {
            results.append("\(service.rawValue) failed: \(error)")
        }
    }
    return results
}
