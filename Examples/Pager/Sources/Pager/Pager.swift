import Foundation
import MartletClient
import MartletOpenSSL
import MartletURLSession

/// A pager in the terminal: logs a user in, registers itself, shows what it is sent, and sends what is typed.
@main
struct Pager {
    let client: PushClient
    let system: SimulatedSystem
    let user: String
    let folder: String
    let platform: String

    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        guard (4...5).contains(words.count) else {
            Console.complain(
                "usage: Pager SERVER SIMULATOR USER FOLDER [PLATFORM]     (the password on standard input)")
            exit(64)
        }
        do {
            let pager = Pager(
                client: try makeClient(server: words[0], folder: words[3]),
                system: SimulatedSystem(simulator: words[1]), user: words[2], folder: words[3],
                platform: words.count == 5 ? words[4] : "apns")
            try await pager.run(Console.lines())
        } catch {
            Console.complain("pager: \(error)")
            exit(1)
        }
    }

    /// What shall outlive the launch is kept in files that only this user of the system can read.
    private static func makeClient(server: String, folder: String) throws -> PushClient {
        PushClient(
            server: try ServerAddress(server), transport: URLSessionTransport(), stores: ClientStores(folder: folder),
            encryption: EndToEndEncryption(
                OpenSSLCryptography(), keyPairs: FileDeviceKeyPairStore(path: folder + "/key"),
                pins: FileKeyPinStore(path: folder + "/pins")))
    }

    /// - Parameter lines: What the user types: the password, then commands.
    private func run(_ lines: AsyncStream<String>) async throws {
        var lines = lines.makeAsyncIterator()
        try await client.logIn(user: user, password: await lines.next() ?? "")
        // At every launch: the system gives the present token, and the SDK keeps none.
        let token = try await system.deviceToken(platform: platform)
        let pushes = try await system.pushes(to: token)
        try await client.register(handle: token, platform: Platform(rawValue: platform), tags: ["pagers"])
        Console.show("\(user)'s pager is registered")
        let inbox = Inbox(client: client, folder: folder)
        let receiving = Task {
            for await payload in pushes { await inbox.take(PushContent(payload: Array(payload))) }
        }
        while let line = await lines.next(), line != "quit" {
            do {
                try await Command(line).run(client)
            } catch {
                Console.complain("pager: \(error)")
            }
        }
        receiving.cancel()
        // Receipts that wait go out; then this pager is nobody's.
        await client.resume()
        await client.logOut()
    }
}
