import MartletModel
import MartletTesting
import Testing

@testable import MartletOpenIDConnect

struct KeyCacheTests {
    let start = Timestamp(seconds: 1_700_000_000)
    let one: TokenMaker
    let two: TokenMaker

    init() throws {
        one = try TokenMaker(id: "one")
        two = try TokenMaker(id: "two")
    }

    private func token(_ maker: TokenMaker, header: [String: JSON] = [:]) throws -> IdentityToken {
        try IdentityToken(try maker.token(TokenMaker.claims(at: start), header: header))
    }

    private func filled(_ makers: [TokenMaker], freshness: Duration? = nil) -> KeyCache {
        var cache = KeyCache()
        cache.began(at: start)
        cache.fetched(makers.compactMap(\.publicKey), freshness: freshness, at: start)
        return cache
    }

    private func name(_ answer: KeyCache.Answer) -> String {
        switch answer {
        case .key(let key): "key \(key.id ?? "")"
        case .fetch: "fetch"
        case .unknown: "unknown"
        case .unavailable(let wait): "unavailable \(wait.components.seconds)"
        }
    }

    @Test func theProviderIsAskedForTheFirstToken() throws {
        #expect(name(KeyCache().answer(to: try token(one), at: start, mayFetch: true)) == "fetch")
    }

    @Test func freshKeysAreUsedWithoutAsking() throws {
        let cache = filled([one, two])
        let late = start + .seconds(3599)
        #expect(name(cache.answer(to: try token(one), at: late, mayFetch: true)) == "key one")
        #expect(name(cache.answer(to: try token(two), at: late, mayFetch: true)) == "key two")
        #expect(name(cache.answer(to: try token(one), at: start + .seconds(3600), mayFetch: true)) == "fetch")
    }

    static let freshness: [(said: Duration, held: Int)] = [
        (.zero, 60), (.seconds(600), 600), (.seconds(999_999_999), 86_400),
    ]

    @Test(arguments: freshness)
    func theProviderSaysHowLongWithinBounds(said: Duration, held: Int) throws {
        let cache = filled([one], freshness: said)
        let before = start + .seconds(held - 1)
        #expect(name(cache.answer(to: try token(one), at: before, mayFetch: true)) == "key one")
        #expect(name(cache.answer(to: try token(one), at: start + .seconds(held), mayFetch: true)) == "fetch")
    }

    @Test func anUnknownKeyIsAskedForAFewTimesThenOnceInAWhile() throws {
        var cache = filled([one])
        let token = try token(two)
        for _ in 0..<4 {
            #expect(name(cache.answer(to: token, at: start, mayFetch: true)) == "fetch")
            cache.began(at: start)
            cache.fetched([one].compactMap(\.publicKey), freshness: nil, at: start)
            #expect(name(cache.answer(to: token, at: start, mayFetch: false)) == "unknown")
        }
        #expect(name(cache.answer(to: token, at: start, mayFetch: true)) == "unknown")
        #expect(name(cache.answer(to: token, at: start + .seconds(29), mayFetch: true)) == "unknown")
        #expect(name(cache.answer(to: token, at: start + .seconds(30), mayFetch: true)) == "fetch")
        #expect(name(cache.answer(to: try self.token(one), at: start, mayFetch: true)) == "key one")
    }

    @Test func callersDuringAFetchWaitForIt() throws {
        var cache = KeyCache()
        for _ in 0..<9 { cache.began(at: start) }
        #expect(name(cache.answer(to: try token(one), at: start, mayFetch: true)) == "fetch")
    }

    @Test func oldKeysGoOnForADayWhileTheProviderIsDown() throws {
        var cache = filled([one], freshness: .seconds(600))
        let stale = start + .seconds(600)
        cache.began(at: stale)
        cache.failed(at: stale)
        #expect(name(cache.answer(to: try token(one), at: stale, mayFetch: true)) == "key one")
        #expect(name(cache.answer(to: try token(two), at: stale, mayFetch: true)) == "unavailable 30")
        let held = stale + .seconds(29)
        #expect(name(cache.answer(to: try token(one), at: held, mayFetch: true)) == "key one")
        #expect(name(cache.answer(to: try token(one), at: stale + .seconds(30), mayFetch: true)) == "fetch")
        let last = stale + .seconds(86_399)
        #expect(name(cache.answer(to: try token(one), at: last, mayFetch: false)) == "key one")
        let over = stale + .seconds(86_400)
        #expect(name(cache.answer(to: try token(one), at: over, mayFetch: false)) == "unavailable 0")
    }

    @Test func aClockThatIsSetBackHoldsNeitherKeysNorFetches() throws {
        let past = start + .seconds(-30 * 86_400)
        var cache = filled([one])
        for _ in 0..<4 { cache.began(at: start) }
        cache.failed(at: start)
        #expect(name(cache.answer(to: try token(two), at: start, mayFetch: true)) == "unavailable 30")
        #expect(name(cache.answer(to: try token(two), at: past, mayFetch: true)) == "fetch")
        #expect(name(cache.answer(to: try token(one), at: past, mayFetch: true)) == "fetch")
        cache.began(at: past)
        cache.failed(at: past)
        #expect(name(cache.answer(to: try token(one), at: past, mayFetch: true)) == "key one")
        let over = past + .seconds(86_400)
        #expect(name(cache.answer(to: try token(one), at: over, mayFetch: false)) == "unavailable 0")
    }

    @Test func keysThatTheProviderGaveUpAreGone() throws {
        var cache = filled([one])
        cache.began(at: start)
        cache.fetched([two].compactMap(\.publicKey), freshness: nil, at: start)
        #expect(name(cache.answer(to: try token(one), at: start, mayFetch: false)) == "unknown")
    }

    @Test func aTokenThatNamesNoKeyIsOfTheOneThatSignedIt() throws {
        let token = try token(two, header: ["kid": .null])
        #expect(name(filled([one, two]).answer(to: token, at: start, mayFetch: true)) == "key two")
        #expect(name(filled([one]).answer(to: token, at: start, mayFetch: true)) == "fetch")
        #expect(name(filled([one]).answer(to: token, at: start, mayFetch: false)) == "unknown")
    }

    @Test func aKeyOfTheIDButAnotherAlgorithmIsNotTheOne() throws {
        let token = try token(one, header: ["alg": "RS256"])
        #expect(name(filled([one]).answer(to: token, at: start, mayFetch: false)) == "unknown")
    }
}
