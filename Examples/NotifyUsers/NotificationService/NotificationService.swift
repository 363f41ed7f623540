// Cannot be built where Martlet is tested: only its syntax is checked there. See README.md.
import MartletClient
import MartletURLSession

/// Decrypts what was encrypted for this device, before the system shows it. The SDK does all of that.
final class NotificationService: PushNotificationService {
    override func makeClient() -> PushClient? { try? Push.makeClient(process: "notification-service") }
}
