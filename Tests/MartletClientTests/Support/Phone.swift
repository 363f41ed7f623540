import MartletModel

@testable import MartletClient

/// A client of a scripted server.
struct Phone {
    let client: PushClient
    let server: ScriptedServer
    let waits = Waits()
    let ids: KeptID
    let credentials: KeptCredentials
    let receipts: KeptReceipts

    /// Another launch of the same app.
    init(_ server: ScriptedServer, after phone: Phone, retry: RetryPolicy = RetryPolicy(keepsTrying: false)) throws {
        self.server = server
        ids = phone.ids
        credentials = phone.credentials
        receipts = phone.receipts
        client = try Self.client(server, ids, credentials, receipts, retry: retry, waits, chance: 1)
    }

    init(
        _ server: ScriptedServer, id: String? = nil, due: RegistrationRecord.Due? = nil, loggedIn: Bool = true,
        tokens: (any TokenProvider)? = nil, retry: RetryPolicy = RetryPolicy(keepsTrying: false), chance: Double = 1
    ) async throws {
        self.server = server
        ids = KeptID(id, due: due)
        credentials = KeptCredentials()
        receipts = KeptReceipts()
        client = try Self.client(
            server, ids, credentials, receipts, tokens: tokens, retry: retry, waits, chance: chance)
        guard tokens == nil else { return }
        if loggedIn { await credentials.save(Credentials(user: "alice", password: "secret")) }
    }

    private static func client(
        _ server: ScriptedServer, _ ids: KeptID, _ credentials: KeptCredentials, _ receipts: KeptReceipts,
        tokens: (any TokenProvider)? = nil, retry: RetryPolicy, _ waits: Waits, chance: Double
    ) throws -> PushClient {
        PushClient(
            server: try ServerAddress("https://push.example.org"), transport: server,
            stores: ClientStores(credentials: credentials.store, registration: ids.store, receipts: receipts.store),
            tokens: tokens, retry: retry,
            environment: ClientEnvironment(
                sleep: { waits.append($0) }, chance: { chance }, now: { Timestamp(milliseconds: 0) }))
    }

    /// Waits for a state of the registration.
    func reached(_ state: RegistrationState) async {
        for await now in await client.registrationStates where now == state { return }
    }
}
