import MartletCrypto
import MartletModel
import Testing

@testable import MartletBackend

struct LoginLimiterTests {
    let start = Timestamp(seconds: 1_700_000_000)

    /// - Returns: How many of so many failing attempts are admitted.
    func fail(
        _ limiter: inout LoginLimiter, _ count: Int, user: String = "alice", from address: String = "192.0.2.1",
        at now: Timestamp? = nil
    ) -> Int {
        (0..<count).count { _ in begin(&limiter, user: user, from: address, at: now) != nil }
    }

    func begin(
        _ limiter: inout LoginLimiter, user: String = "alice", from address: String = "192.0.2.1",
        at now: Timestamp? = nil
    ) -> LoginLimiter.Attempt? {
        guard case .admitted(let attempt) = limiter.attempt(user: user, address: address, at: now ?? start) else {
            return nil
        }
        return attempt
    }

    @Test func aFewFailuresAreAdmittedThenOnePerInterval() {
        var limiter = LoginLimiter()
        #expect(fail(&limiter, 100) == 5)
        #expect(limiter.attempt(user: "alice", address: "192.0.2.1", at: start) == .refused(retryAfter: .seconds(30)))
        #expect(fail(&limiter, 100, at: start + .seconds(29)) == 0)
        #expect(fail(&limiter, 100, at: start + .seconds(30)) == 1)
        #expect(fail(&limiter, 100, at: start + .seconds(3600)) == 5)
    }

    @Test func attemptsAtTheSameTimeAreNoWayAround() {
        var limiter = LoginLimiter()
        // Nothing has been answered yet when the sixth comes.
        #expect(fail(&limiter, 6) == 5)
    }

    @Test func aSuccessForgivesWhatWasCounted() throws {
        var limiter = LoginLimiter()
        for _ in 0..<50 { limiter.succeeded(try #require(begin(&limiter)), at: start) }
    }

    @Test func successesAtTheSameTimeLeaveNothingCounted() throws {
        var limiter = LoginLimiter()
        for number in 0..<200 {
            let user = "user\(number)"
            let attempts = try (0..<3).map { _ in try #require(begin(&limiter, user: user)) }
            for attempt in attempts { limiter.succeeded(attempt, at: start) }
        }
        #expect(fail(&limiter, 31, user: "mallory\(1)") == 5)
        #expect((0..<100).count { fail(&limiter, 1, user: "stranger\($0)") == 1 } == 25)
    }

    @Test func anAttemptThatWasNotCheckedIsNotCounted() throws {
        var limiter = LoginLimiter()
        for _ in 0..<50 {
            limiter.withdrawn(try #require(begin(&limiter)), at: start)
        }
        #expect(fail(&limiter, 100) == 5)
    }

    @Test func aNetworkCannotGoThroughTheListOfUsers() {
        var limiter = LoginLimiter()
        #expect((0..<1000).count { fail(&limiter, 1, user: "user\($0)") == 1 } == 30)
    }

    @Test func aKnownUserIsNotShutOutByNeighbours() throws {
        var limiter = LoginLimiter()
        limiter.succeeded(try #require(begin(&limiter)), at: start)
        for user in 0..<1000 { _ = fail(&limiter, 1, user: "user\(user)") }
        #expect(fail(&limiter, 1) == 1)
    }

    @Test func strangersElsewhereNeverShutAUserOut() {
        var limiter = LoginLimiter()
        for host in 0..<250 { _ = fail(&limiter, 10, from: "198.51.100.\(host)") }
        #expect(fail(&limiter, 1, from: "203.0.113.9") == 1)
    }

    @Test func whileManyNetworksGuessEachHasOneAttempt() {
        var limiter = LoginLimiter()
        for host in 0..<50 { _ = fail(&limiter, 5, from: "198.51.100.\(host)") }
        #expect(fail(&limiter, 10, from: "203.0.113.9") == 1)
        #expect(fail(&limiter, 10, from: "203.0.113.9", at: start + .seconds(599)) == 0)
        #expect(fail(&limiter, 10, user: "bob", from: "203.0.113.9") == 5)
    }

    @Test func theNumberOfRememberedFailuresIsLimited() {
        var buckets = FailureBuckets<Int>(countLimit: 100)
        let size = BucketSize(drops: 2, interval: .seconds(10))
        for key in 0..<10_000 {
            buckets.fill(key, size, at: start)
            #expect(buckets.count <= 100)
        }
        buckets.fill(-1, size, at: start + .seconds(11))
        #expect(buckets.count == 1)
        var recent = RecentSet<Int>(countLimit: 100)
        for element in 0..<10_000 {
            recent.insert(element)
            #expect(recent.count <= 100 && recent.contains(element))
        }
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1/32"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2:0:0:0:0/64"),
        ("2001:DB8:1:2::9", "2001:db8:1:2:0:0:0:0/64"), ("2001:db8::9", "2001:db8:0:0:0:0:0:0/64"),
        ("::1", "0:0:0:0:0:0:0:0/64"), ("::ffff:192.0.2.1", "192.0.2.1/32"), ("::ffff:c000:201", "192.0.2.1/32"),
        ("fe80::1%eth0", "fe80:0:0:0:0:0:0:0/64"), ("", ""), ("a name", "a name"), ("1:::2", "1:::2"),
    ])
    func anIPv6SubscriberIsOneNetwork(address: String, network: String) {
        #expect(LoginLimiter.network(of: address) == network)
    }

    @Test func neighboursShareATurnAndAKnownUserGoesFirst() throws {
        var limiter = LoginLimiter()
        let share = limiter.share(of: "alice", address: "192.0.2.1")
        #expect(share == Argon2idQueue.Share("192.0.2.0/24"))
        #expect(limiter.share(of: "bob", address: "192.0.2.200") == share)
        #expect(limiter.share(of: "bob", address: "192.0.3.1") != share)
        #expect(
            limiter.share(of: "alice", address: "2001:db8:1:2ff::1")
                == limiter.share(of: "bob", address: "2001:db8:1:200::"))
        #expect(
            limiter.share(of: "alice", address: "2001:db8:1:2ff::1")
                != limiter.share(of: "alice", address: "2001:db8:1:300::1"))
        limiter.succeeded(try #require(begin(&limiter)), at: start)
        #expect(
            limiter.share(of: "alice", address: "192.0.2.1")
                == Argon2idQueue.Share("alice 192.0.2.1/32", isPreferred: true))
        #expect(limiter.share(of: "alice", address: "192.0.2.2") == share)
    }
}

struct CheckedPasswordsTests {
    let start = Timestamp(seconds: 1_700_000_000)

    @Test func aPasswordIsRememberedForAWhileAndForItsHashAndNetworkAlone() throws {
        var checked = try CheckedPasswords(lifetime: .seconds(60), byteLimit: 2000)
        func code(_ password: [UInt8], _ hash: String = "hash", _ network: String = "192.0.2.1/32") throws -> [UInt8] {
            try #require(checked.code(password, hash, in: network))
        }
        let right = try code([1, 2])
        let others = [try code([1, 2], "other"), try code([1]), try code([1, 2], "hash", "192.0.2.2/32")]
        checked.insert(.right, of: right, at: start)
        #expect(checked.result(of: right, at: start + .seconds(59)) == .right)
        #expect(checked.result(of: right, at: start + .seconds(60)) == nil)
        for other in others { #expect(checked.result(of: other, at: start) == nil) }
        for number in UInt8(0)..<100 {
            let code = try #require(checked.code([number], "hash", in: "192.0.2.1/32"))
            checked.insert(.wrong, of: code, at: start)
            #expect(checked.result(of: code, at: start) == .wrong)
            #expect(checked.bytes <= 2000)
        }
    }
}
