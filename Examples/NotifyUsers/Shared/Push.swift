// Cannot be built where Martlet is tested: only its syntax is checked there. See README.md.
import Foundation
import MartletClient
import MartletURLSession

/// What the app and its notification service extension agree on.
enum Push {
    /// Where your server is. The simulators of Xcode may reach `http://localhost:8080`; devices need HTTPS.
    static let server = "https://push.example.org"
    /// The bundle identifier of the app.
    private static let service = "org.example.notify-users"
    /// In the entitlements of both, with your team's prefix.
    private static let accessGroup = "TEAMID.org.example.notify-users"
    private static let appGroup = "group.org.example.notify-users"

    /// This device's keys, in the keychain, where both processes find them.
    static let encryption = EndToEndEncryption(
        CryptoKitCryptography(), keyPairs: KeychainDeviceKeyPairStore(service: service, accessGroup: accessGroup),
        pins: FileKeyPinStore(path: URL.applicationSupportDirectory.appending(path: "pins.json").path))

    /// - Parameter process: `app` in the app, another word in the extension.
    /// - Throws: `PushClientError` where the server's address is not one.
    static func makeClient(process: String = "app") throws(PushClientError) -> PushClient {
        PushClient(
            server: try ServerAddress(server), transport: URLSessionTransport(),
            stores: .system(
                service: service, accessGroup: accessGroup, appGroup: appGroup, process: process),
            encryption: encryption)
    }
}
