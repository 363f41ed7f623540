import MartletClient
import UIKit

extension AppDelegate {
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult {
        guard let shown = await receive(PushContent(userInfo: userInfo), client: client) else { return .noData }
        do {
            try await show(shown)
            return .newData
        } catch {
            return .failed
        }
    }
}
