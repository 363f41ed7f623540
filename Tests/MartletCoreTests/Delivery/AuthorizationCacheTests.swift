import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletCore

/// Tokens that somebody gives who is asked for them.
struct AuthorizationCacheTests {
    private let time = ManualTimeSource()
    private let provider = TokenProvider()
    private let service: TokenPigeon
    private let cache: AuthorizationCache
    private let key = AuthorizationCache.Key(
        lane: LaneID(hub: Hub.ID(rawValue: 1), platform: TokenPigeon.descriptor.platform))
    private let credential = Credential(["Nest": "a"])

    init() throws {
        service = try TokenPigeon(credential: credential)
        cache = AuthorizationCache(transport: provider, timeout: .seconds(30), time: time)
    }

    private func grant(_ credential: Credential? = nil) async -> AuthorizationCache.Answer {
        await cache.grant(for: key, credential: credential ?? self.credential, service: service)
    }

    @Test func aTokenIsFetchedOnceForAllWhoWaitForIt() async throws {
        provider.hold()
        async let first = grant()
        async let second = grant()
        async let third = grant()
        await provider.waitForRequest()
        provider.answer(.ok, "t1")
        let grants = await [first, second, third]
        #expect(grants == Array(repeating: .granted(.init(token: "t1", generation: 0)), count: 3))
        #expect(provider.requests == 1)
    }

    @Test func aCancelledCallerDoesNotCancelTheTokenRequestOfOthers() async throws {
        provider.hold()
        let cancelled = Task { await grant() }
        await provider.waitForRequest()
        async let other = grant()
        cancelled.cancel()
        provider.answer(.ok, "t1")
        #expect(await other == .granted(.init(token: "t1", generation: 0)))
        #expect(provider.requests == 1)
    }

    @Test func nearItsEndATokenIsRenewedWhileAllSendWithTheOld() async throws {
        provider.answers(.ok, "t1")
        #expect(await grant() == .granted(.init(token: "t1", generation: 0)))
        time.advance(by: .seconds(3000))
        provider.hold()
        #expect(await grant() == .granted(.init(token: "t1", generation: 0)))
        #expect(await grant() == .granted(.init(token: "t1", generation: 0)))
        await provider.waitForRequest()
        provider.answer(.ok, "t2")
        await cache.finishExchange(for: key)
        #expect(await grant() == .granted(.init(token: "t2", generation: 0)))
        #expect(provider.requests == 2)
    }

    @Test func aTokenThatIsSignedAnewGoesOverConnectionsOfItsOwn() async throws {
        let credential = Credential(["Whistle": "tweet"])
        let service = try CarrierPigeon(credential: credential)
        var generations: [Int] = []
        for _ in 1...3 {
            guard case .granted(let grant) = await cache.grant(for: key, credential: credential, service: service)
            else {
                Issue.record("there is a token")
                return
            }
            generations.append(grant.generation)
            time.advance(by: .seconds(3600))
        }
        #expect(generations == [0, 1, 2])
    }

    @Test func whereTheClockIsSetBackATokenOfTheFutureIsReplaced() async throws {
        provider.answers(.ok, "t1")
        _ = await grant()
        provider.answers(.ok, "t2")
        time.advance(by: .seconds(-1))
        #expect(await grant() == .granted(.init(token: "t1", generation: 0)))
        time.advance(by: .seconds(-86_400))
        #expect(await grant() == .granted(.init(token: "t2", generation: 1)))
        #expect(await grant() == .granted(.init(token: "t2", generation: 1)))
        #expect(provider.requests == 2)
    }

    @Test func aFailedRenewalLeavesTheOldTokenAndIsTriedAgainLater() async throws {
        provider.answers(.ok, "t1")
        _ = await grant()
        provider.answers(.serviceUnavailable, "")
        time.advance(by: .seconds(3000))
        _ = await grant()
        await cache.finishExchange(for: key)
        for _ in 1...5 { #expect(await grant() == .granted(.init(token: "t1", generation: 0))) }
        #expect(provider.requests == 2)
        provider.answers(.ok, "t2")
        time.advance(by: .seconds(60))
        _ = await grant()
        await cache.finishExchange(for: key)
        #expect(await grant() == .granted(.init(token: "t2", generation: 0)))
        #expect(provider.requests == 3)
    }

    @Test func aRefusedTokenIsReplacedOnce() async throws {
        provider.answers(.ok, "t1")
        let old = AuthorizationCache.Grant(token: "t1", generation: 0)
        #expect(await grant() == .granted(old))
        provider.answers(.ok, "t2")
        await cache.discard(old, for: key)
        let new = AuthorizationCache.Grant(token: "t2", generation: 1)
        #expect(await grant() == .granted(new))
        // Another batch that was sent with the old token finds it renewed.
        await cache.discard(old, for: key)
        #expect(await grant() == .granted(new))
        #expect(provider.requests == 2)
    }

    @Test func aRefusalStandsForAWhileUnlessTheCredentialChanges() async throws {
        provider.answers(.badRequest, "")
        let refused = AuthorizationCache.Answer.refused(Outcome(.invalidCredentials, reason: "status 400", .stop))
        for _ in 1...5 { #expect(await grant() == refused) }
        #expect(provider.requests == 1)
        time.advance(by: .seconds(60))
        #expect(await grant() == refused)
        #expect(provider.requests == 2)
        provider.answers(.ok, "t1")
        #expect(await grant(Credential(["Nest": "b"])) == .granted(.init(token: "t1", generation: 1)))
    }

    @Test func tokensOfAnOldCredentialAreNotKept() async throws {
        provider.hold()
        async let old = grant()
        await provider.waitForRequest()
        let new = Credential(["Nest": "b"])
        async let other = grant(new)
        await provider.waitForRequest(2)
        provider.answer(.ok, "old")
        provider.answer(.ok, "new")
        #expect(await old == .granted(.init(token: "old", generation: 0)))
        #expect(await other == .granted(.init(token: "new", generation: 1)))
        #expect(await grant(new) == .granted(.init(token: "new", generation: 1)))
    }

    @Test func aProviderThatCannotBeReachedPausesThePlatform() async throws {
        provider.fails(.timedOut)
        #expect(
            await grant()
                == .refused(
                    Outcome(
                        .tokenProviderUnreachable, reason: "timedOut", .retry(after: .seconds(1), scope: .platform))))
    }
}

/// Answers exchanges: at once, or one by one.
private final class TokenProvider: HTTPTransport {
    private typealias Answer = Result<HTTPResponse, TransportError>

    private struct State {
        var requests = 0
        var atOnce: Answer?
        var waiting: [CheckedContinuation<Answer, Never>] = []
        var watcher: (count: Int, tell: CheckedContinuation<Void, Never>)?

        /// Those that want to know that so many wait.
        mutating func takeWatcher() -> CheckedContinuation<Void, Never>? {
            guard let watcher, waiting.count >= watcher.count else { return nil }
            self.watcher = nil
            return watcher.tell
        }
    }

    private let state = Mutex(State())

    var requests: Int { state.withLock { $0.requests } }

    func hold() { state.withLock { $0.atOnce = nil } }

    func answers(_ status: HTTPStatus, _ token: String) {
        state.withLock { $0.atOnce = .success(HTTPResponse(status, body: .bytes(Array(token.utf8)))) }
    }

    func fails(_ kind: TransportError.Kind) {
        state.withLock { $0.atOnce = .failure(TransportError(kind, mayHaveBeenProcessed: true, "")) }
    }

    /// Answers the oldest request that waits.
    func answer(_ status: HTTPStatus, _ token: String) {
        let waiting = state.withLock { $0.waiting.removeFirst() }
        waiting.resume(returning: .success(HTTPResponse(status, body: .bytes(Array(token.utf8)))))
    }

    func waitForRequest(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let watcher = state.withLock { state in
                state.watcher = (count, continuation)
                return state.takeWatcher()
            }
            watcher?.resume()
        }
    }

    func send(
        _ batch: RequestBatch, before deadline: ContinuousClock.Instant,
        results: @escaping @Sendable (ResultPortion) -> Void
    ) async {}

    func send(
        _ request: HTTPRequest, to origin: HTTPOrigin, settings: TransportSettings,
        before deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> HTTPResponse {
        let answer = await withCheckedContinuation { continuation in
            let (atOnce, watcher) = state.withLock { state in
                state.requests += 1
                if state.atOnce == nil { state.waiting.append(continuation) }
                return (state.atOnce, state.takeWatcher())
            }
            watcher?.resume()
            if let atOnce { continuation.resume(returning: atOnce) }
        }
        return try answer.get()
    }
}
