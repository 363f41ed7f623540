import Glibc
import MartletClient
import MartletHTTP
import MartletModel
import MartletNetwork
import MartletOpenSSL
import MartletServer

/// `martlet device`: simulates a phone in the terminal.
enum DeviceCommand {
    static let command = Command(
        "device", "Run a simulated phone: log in, register, print every notification that it shows.",
        options: [
            Option("backend", "URL", "The server with the app backend."),
            Option("user", "NAME", "The user who logs in."),
            UserCommands.passwordFromInput,
            Option("simulator", "URL", "The simulated push services.", isFlagAlone: true),
            Option("tags", "A,B", "Tags that the device registers with."),
            Option(
                "platform", "NAME",
                "The phone's platform: \(Platforms.names.joined(separator: ", ")), or another name of one of these.",
                default: Platforms.names.first),
            Option("key", "FILE", "Where its key for encrypted messages is kept; without it each start has a new one."),
            Option("save", "DIR", "Save rich content here; its line names the file."),
            Option("open", nil, "Tell the server of every notification that it was opened, too."),
            Option("ca-file", "FILE", "The authority to trust at the backend instead of the system's."),
            SimulatorConnection.authority,
        ]
    ) { invocation in
        let platform = try invocation.required("platform", as: "one of \(Platforms.names.joined(separator: ", "))") {
            Platforms.platform(named: $0)
        }
        let user = try invocation.required("user")
        let backend = try invocation.required("backend")
        let phone = SimulatedPhone(simulator: try SimulatorConnection(invocation))
        let password = try invocation.readPassword()
        let keyPairs: any DeviceKeyPairStore =
            if let path = invocation["key"] { FileDeviceKeyPairStore(path: path) } else { MemoryDeviceKeyPairStore() }
        let client = PushClient(
            server: try ServerAddress(backend),
            transport: NetworkTransport(
                phone.simulator.client, trusting: try invocation["ca-file"].map { try TextFile.readText($0) }),
            encryption: EndToEndEncryption(OpenSSLCryptography(), keyPairs: keyPairs, pins: MemoryKeyPinStore()),
            // One attempt only: the person at the terminal should see an error at once. Registrations, log-outs and
            // receipts are still retried in the background (`RetryPolicy.keepsTrying`).
            retry: RetryPolicy(attempts: 1))
        try await client.logIn(user: user, password: password)
        let handle = try await phone.obtainHandle(platform: platform)
        let events = try await phone.follow(handle)
        let tags = (invocation["tags"] ?? "").split(separator: ",").map(String.init)
        try await client.register(handle: handle, platform: Platform(rawValue: platform), tags: tags)
        let app = PhoneApp(client: client, folder: invocation["save"], opens: invocation.isOn("open"))
        let fingerprint = try await client.fingerprint()?.description ?? "none"
        await Signals.runUntilTermination {
            Terminal.print("\(user)'s phone is registered; its key: \(fingerprint)")
            var reason = "it ended the stream"
            do {
                try await phone.forEachDelivery(of: events) { await app.take($0) }
            } catch {
                reason = "\(error)"
            }
            guard !Task.isCancelled else { return }
            Terminal.complain("martlet: the simulator has gone: \(reason)")
            _exit(EXIT_FAILURE)
        }
    }
}
