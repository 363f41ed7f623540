import Glibc
import MartletModel
import MartletServer

/// A profile of Firefox that is only used for the notifications of a local hub.
struct FirefoxProfile {
    /// The absolute path of the profile.
    let directory: String

    /// Makes the directory if it does not exist, and the missing directories above it.
    init(_ path: String) throws {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += made.isEmpty || made == "/" ? "\(part)" : "/\(part)"
            guard mkdir(made, 0o700) == 0 || errno == EEXIST else {
                throw ServerError("Cannot make \(made): \(String(cString: strerror(errno))).")
            }
        }
        guard let resolved = realpath(path, nil) else {
            throw ServerError("Cannot open \(path): \(String(cString: strerror(errno))).")
        }
        defer { free(resolved) }
        directory = String(cString: resolved)
    }

    /// Writes the preferences, which Firefox reads at every start (BrowserPush.md, section 1).
    /// - Parameter isHeadless: Whether Firefox runs without a window. Without a window, or without a desktop session,
    ///   Firefox does not pass notifications on to the desktop.
    func write(socketURL: String, isHeadless: Bool) throws {
        let hasDesktop = !isHeadless && getenv("DBUS_SESSION_BUS_ADDRESS") != nil
        let preferences: [(String, JSON)] = [
            ("dom.push.serverURL", .string(socketURL)),
            // Without this preference, Firefox accepts only wss.
            ("dom.push.testing.allowInsecureServerURL", true),
            // True is the default, but Firefox under remote control switches push off unless the profile sets this
            // preference.
            ("dom.push.connection.enabled", true),
            // The interval is short, so that the browser reconnects to a restarted simulator within a second or two.
            ("dom.push.retryBaseInterval", 500),
            ("permissions.default.desktop-notification", 1),
            ("alerts.useSystemBackend", .bool(hasDesktop)),
            // These preferences avoid requests to the Internet, and pages and dialogs that get in the way.
            ("browser.aboutwelcome.enabled", false),
            ("browser.shell.checkDefaultBrowser", false),
            ("browser.startup.homepage", "about:blank"),
            ("datareporting.policy.dataSubmissionEnabled", false),
            ("network.captive-portal-service.enabled", false),
            ("network.connectivity-service.enabled", false),
            ("network.manage-offline-status", false),
            ("termsofuse.bypassNotification", true),
            ("toolkit.telemetry.enabled", false),
        ]
        let lines = preferences.map { "user_pref(\(JSON.string($0.0).text), \($0.1.text));\n" }
        try TextFile.write(lines.joined(), to: "\(directory)/user.js")
    }
}
