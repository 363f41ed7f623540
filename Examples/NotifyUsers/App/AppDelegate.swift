// Cannot be built where Martlet is tested: only its syntax is checked there. See README.md.
import MartletClient
import MartletURLSession
import UIKit
import UserNotifications

/// Where the system speaks to the app.
final class AppDelegate: NSObject, UIApplicationDelegate {
    private(set) lazy var session = Session(client: Self.makeClient())

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        let center = UNUserNotificationCenter.current()
        center.delegate = self
        center.setNotificationCategories([.rich(more: "More")])
        Task {
            _ = try? await UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .sound, .badge])
            // At every launch: the token may be another one today.
            application.registerForRemoteNotifications()
        }
        return true
    }

    func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken token: Data) {
        Task { await session.register(deviceToken: token) }
    }

    func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {
        Task {
            await session.client.registrationFailed(error) {
                await UIApplication.shared.registerForRemoteNotifications()
            }
        }
    }

    /// A silent push has woken the app: it fetches what waits at the server, and shows it itself.
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult {
        guard let notice = await session.receive(PushContent(userInfo: userInfo)) else { return .noData }
        guard application.applicationState != .active else {
            session.notice = notice
            return .newData
        }
        let content = UNMutableNotificationContent()
        content.sound = .default
        content.show(notice.shown)
        let request = UNNotificationRequest(identifier: UUID().uuidString, content: content, trigger: nil)
        return (try? await UNUserNotificationCenter.current().add(request)) == nil ? .failed : .newData
    }

    private static func makeClient() -> PushClient {
        do {
            return try Push.makeClient()
        } catch {
            // The address is a constant of this app: a wrong one is found at the first launch.
            preconditionFailure(error.message)
        }
    }
}

// The system calls these on threads of its own; what they take from it is made Sendable there.
extension AppDelegate: UNUserNotificationCenterDelegate {
    /// What the server sends as an alert is shown although the app is in front.
    nonisolated func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions {
        [.banner, .sound]
    }

    /// The user tapped a notification, or chose "More".
    nonisolated func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
    ) async {
        await session.open(PushContent(userInfo: response.notification.request.content.userInfo))
    }
}
