import MartletClient
import UIKit

final class AppDelegate: NSObject, UIApplicationDelegate {
    let session = Session.shared

    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        application.registerForRemoteNotifications()
        return true
    }

    func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken token: Data) {
        Task { await session.register(deviceToken: token) }
    }
}
