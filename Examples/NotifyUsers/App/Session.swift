import Foundation
import MartletClient
import Observation

/// What the screens show and what they ask for. How it is done is the SDK's affair.
@MainActor
@Observable
final class Session {
    let client: PushClient
    /// Who is logged in.
    private(set) var user: String?
    /// Nobody can log in before: without a token there is no device to notify.
    private(set) var hasDeviceToken = false
    private(set) var isBusy = false
    /// What became of each sending, the latest last.
    private(set) var results: [String] = []
    /// A sentence for the user, in a dialog.
    var message: String?
    /// What came while the app was in front.
    var notice: Notice?
    /// What "More" has opened.
    var picture: Picture?

    init(client: PushClient) {
        self.client = client
    }

    /// At launch, and whenever the app comes to the front.
    func resume() async {
        user = await client.user
        await client.resume()
    }

    // MARK: Registering

    /// The system has given this launch's token. The SDK registers it, now or once somebody has logged in.
    func register(deviceToken: Data) async {
        hasDeviceToken = true
        do {
            try await client.register(deviceToken: deviceToken, platform: .apns)
        } catch  where error.kind == .logInNeeded {
            // The log-in screen is up; the registration follows the log-in.
        } catch {
            message = error.message
        }
    }

    func logIn(user: String, password: String) async {
        isBusy = true
        defer { isBusy = false }
        do {
            try await client.logIn(user: user, password: password)
            self.user = user
            message = "Registered and ready."
        } catch {
            message = error.message
        }
    }

    func logOut() async {
        await client.logOut()
        user = nil
        results = []
    }

    // MARK: Sending

    /// One message for all devices of the recipient, whatever their platform.
    func send(_ text: String, to recipient: String) async {
        await report("Message") { () async throws(PushClientError) in
            try await client.send(Message(text: .plain(text)), to: .user(recipient))
        }
    }

    /// The text stays at the server until the recipient's devices fetch it.
    func sendSecret(_ text: String, to recipient: String) async {
        await report("Secret") { () async throws(PushClientError) in
            try await client.sendSecure(text, to: .user(recipient), message: "Log in to read what you were sent.")
        }
    }

    /// The text can be read by the recipient's devices alone.
    func sendEncrypted(_ text: String, to recipient: String) async {
        await report("Encrypted") { () async throws(PushClientError) in
            try await client.sendEncrypted(text, to: recipient)
        }
    }

    private func report<Value>(_ what: String, _ send: () async throws(PushClientError) -> Value) async {
        isBusy = true
        defer { isBusy = false }
        do {
            _ = try await send()
            results.append("\(what): sent")
        } catch {
            results.append("\(what) failed: \(error.status.map { "status \($0)" } ?? error.message)")
        }
    }

    // MARK: Receiving

    /// Fetches what a silent push has announced.
    /// - Returns: What to show; nil for what the system shows by itself, and for what is not Martlet's.
    func receive(_ content: PushContent) async -> Notice? {
        switch content {
        case .rich, .secure: break
        case .text, .encrypted, .other: return nil
        }
        let shown = await client.notification(for: content, folder: NSTemporaryDirectory())
        await client.received(content)
        return shown.map { Notice(content: content, shown: $0) }
    }

    /// The user tapped a notification, or chose "More": a picture is opened.
    func open(_ content: PushContent) async {
        await client.opened(content)
        guard case .rich(let reference) = content else { return }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("picture-\(reference.id)")
        do {
            switch try await client.fetch(reference, to: file.path) {
            case .content(let rich): picture = Picture(id: rich.id, title: rich.message, path: file.path)
            case .logInNeeded: message = "Log in to see this."
            }
        } catch {
            message = error.message
        }
    }
}

/// What came while the app was in front.
struct Notice: Hashable, Sendable {
    let content: PushContent
    let shown: NotificationContent

    /// Only pictures can be opened here; sounds and addresses are for your app to add.
    var opensPicture: Bool {
        if case .rich(let reference) = content { reference.type == "img" } else { false }
    }
}

/// A picture that was fetched.
struct Picture: Identifiable, Hashable, Sendable {
    let id: Int32
    let title: String
    let path: String
}

extension PushClientError {
    /// The server's status, where it answered.
    fileprivate var status: Int? {
        switch kind {
        case .refused(let status), .serverProblem(let status): status
        default: nil
        }
    }
}
