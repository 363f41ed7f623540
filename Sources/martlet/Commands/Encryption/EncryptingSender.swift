import Glibc
import MartletClient
import MartletNetwork
import MartletOpenSSL
import MartletServer

/// A user at the terminal who sends messages that only the recipient's devices can read.
struct EncryptingSender {
    static let options = [
        Option("backend", "URL", "The server with the app backend."),
        Option("user", "NAME", "Who sends."),
        UserCommands.passwordFromInput,
        Option("pins", "FILE", "Where the keys of recipients are kept (default: martlet/pins.json in ~/.config)."),
        Option("trust", "FINGERPRINT,…", "Trust these keys: fingerprints that were compared with the recipient's."),
        Option("ca-file", "FILE", "The authority to trust at the backend instead of the system's."),
    ]

    let client: PushClient
    /// The fingerprints that the user has compared, as digits.
    let compared: [String]

    /// Logs the user in, runs `work`, and always logs the user out at the end.
    static func run(_ invocation: Invocation, _ work: (EncryptingSender) async throws -> Void) async throws {
        let user = try invocation.required("user")
        let backend = try invocation.required("backend")
        let pins = FileKeyPinStore(path: try pinsPath(invocation))
        let password = try invocation.readPassword()
        let client = PushClient(
            server: try ServerAddress(backend),
            transport: NetworkTransport(
                HTTPClient(loops: try EventLoopGroup(count: 1)),
                trusting: try invocation["ca-file"].map { try TextFile.readText($0) }),
            encryption: EndToEndEncryption(
                OpenSSLCryptography(), keyPairs: MemoryDeviceKeyPairStore(), pins: pins),
            retry: .once)
        try await client.logIn(user: user, password: password)
        do {
            try await work(EncryptingSender(client: client, compared: fingerprints(invocation["trust"] ?? "")))
        } catch {
            await client.logOut()
            throw error
        }
        await client.logOut()
    }

    /// Returns the keys to encrypt for, and pins them, so that the server cannot show one key and then provide another
    /// key for encryption.
    /// - Throws: `ServerError` that lists the keys, if there are new or changed keys and the user has not compared all
    ///   of them.
    func trustedKeys(of recipient: String) async throws -> UserKeys {
        let keys = try await client.keys(of: recipient)
        if try accepts(keys) || keys.isFirstUse && !keys.devices.isEmpty {
            try await client.trust(keys)
        } else if !keys.isTrusted {
            throw ServerError(
                """
                \(recipient) has a device with a key that you have not sent to before. Nothing was sent.
                \(Self.lines(keys).map { "  \($0)" }.joined(separator: "\n"))
                Compare the fingerprint with \(recipient)'s device. If they are the same, add: --trust \
                '\((keys.added + keys.changed).map(\.fingerprint.description).joined(separator: ","))'
                """)
        }
        return keys
    }

    /// Returns whether the user has compared every key that is not trusted yet.
    /// - Throws: `ServerError` if a given fingerprint belongs to no key of the recipient.
    func accepts(_ keys: UserKeys) throws -> Bool {
        guard !compared.isEmpty else { return false }
        let present = keys.devices.map { Self.digits($0.fingerprint.description) }
        guard compared.allSatisfy(present.contains) else {
            throw ServerError("\(keys.user) has no device with a fingerprint that you gave. Nothing was trusted.")
        }
        let unknown = keys.isFirstUse ? keys.devices : keys.added + keys.changed
        return unknown.allSatisfy { compared.contains(Self.digits($0.fingerprint.description)) }
    }

    /// Returns a line for each device: the change of its key, its fingerprint, its platform and its id. The platform
    /// and the id come last, because they are text from the server and must not be mistaken for the change of the key.
    static func lines(_ keys: UserKeys) -> [String] {
        let (added, changed) = (Set(keys.added), Set(keys.changed))
        let present = keys.devices.map { device in
            let state =
                keys.isFirstUse
                ? "first  " : added.contains(device) ? "new    " : changed.contains(device) ? "changed" : "trusted"
            return "\(state)  \(device.fingerprint)  \(device.platform)  \(device.device)"
        }
        return (present + keys.removed.map { "removed  \($0.fingerprint)  \($0.device)" }).map(Terminal.singleLine)
    }

    private static func fingerprints(_ text: String) -> [String] {
        text.split(separator: ",").map { digits(String($0)) }
    }

    private static func digits(_ text: String) -> String { text.filter(\.isNumber) }

    private static func pinsPath(_ invocation: Invocation) throws -> String {
        if let path = invocation["pins"] { return path }
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        guard let folder = variable("XDG_CONFIG_HOME") ?? variable("HOME").map({ "\($0)/.config" }) else {
            throw UsageError(description: "--pins is missing: there is no home folder.", command: invocation.command)
        }
        return "\(folder)/martlet/pins.json"
    }
}
