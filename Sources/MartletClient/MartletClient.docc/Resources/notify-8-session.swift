import Foundation
import MartletClient

@MainActor
final class Session {
    let client: PushClient
    private(set) var hasDeviceToken = false
    private(set) var message: String?

    init(client: PushClient) {
        self.client = client
    }

    func register(deviceToken: Data) async {
        hasDeviceToken = true
        do throws(PushClientError) {
            try await client.register(deviceToken: deviceToken, platform: .apns, tags: ["news"])
        } catch {
            message = error.kind == .logInNeeded ? nil : error.message
        }
    }

    func logIn(user: String, password: String) async {
        do throws(PushClientError) {
            try await client.logIn(user: user, password: password)
            message = "Registered and ready."
        } catch {
            message = error.message
        }
    }
}
