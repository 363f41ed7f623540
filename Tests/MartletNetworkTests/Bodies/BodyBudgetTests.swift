import MartletHTTP
import MartletTesting
import Testing

@testable import MartletNetwork

struct BodyBudgetTests {
    private static let limits: BodyLimits = {
        var limits = BodyLimits()
        (limits.total, limits.caller, limits.connection) = (1000, 400, 500)
        (limits.strangers, limits.network, limits.scope, limits.free) = (300, 100, 800, 0)
        return limits
    }()
    private static let stranger = BodyBudget.Share.network(.ipv4(1))

    @Test func aCallerHasAShareAndSoHasAConnection() {
        let budget = BodyLedger(limits: Self.limits)
        let (one, other) = (BodyBudget.Share.caller("a", scope: "h"), BodyBudget.Share.caller("a", scope: "i"))
        #expect(budget.reserve(400, for: one, on: 1))
        #expect(!budget.reserve(1, for: one, on: 2))
        #expect(!budget.reserve(101, for: other, on: 1))
        #expect(budget.reserve(100, for: other, on: 1))
        budget.release(400, of: one, on: 1)
        budget.release(100, of: other, on: 1)
        #expect(budget.isEmpty)
    }

    @Test func strangersTakeNothingFromKnownCallersNorFromOtherNetworks() {
        let budget = BodyLedger(limits: Self.limits)
        #expect(budget.reserve(100, for: Self.stranger, on: 1))
        #expect(!budget.reserve(1, for: Self.stranger, on: 2))
        #expect(budget.reserve(100, for: .network(.ipv6(1)), on: 2))
        #expect(budget.reserve(100, for: .network(.ipv6(2)), on: 3))
        #expect(!budget.reserve(1, for: .network(.ipv6(3)), on: 4))
        #expect(budget.reserve(400, for: .caller("a", scope: "h"), on: 5))
    }

    @Test func theCallersOfOneHubLeaveRoomForOthers() {
        let budget = BodyLedger(limits: Self.limits)
        #expect(budget.reserve(400, for: .caller("a", scope: "h"), on: 1))
        #expect(budget.reserve(400, for: .caller("b", scope: "h"), on: 2))
        #expect(!budget.reserve(1, for: .caller("c", scope: "h"), on: 3))
        #expect(budget.reserve(200, for: .caller("c", scope: "i"), on: 3))
        budget.release(400, of: .caller("a", scope: "h"), on: 1)
        #expect(budget.reserve(1, for: .caller("c", scope: "h"), on: 3))
    }

    @Test func aConnectionOfAStrangerHasRoomForAnOrdinaryRequestHoweverFullItIs() {
        var limits = Self.limits
        limits.free = 50
        let budget = BodyLedger(limits: limits)
        #expect(budget.reserve(150, for: Self.stranger, on: 1))
        #expect(!budget.reserve(51, for: Self.stranger, on: 2))
        #expect(budget.reserve(50, for: Self.stranger, on: 2))
        #expect(!budget.reserve(1, for: Self.stranger, on: 2))
        budget.release(150, of: Self.stranger, on: 1)
        #expect(budget.reserve(100, for: Self.stranger, on: 2))
        budget.release(150, of: Self.stranger, on: 2)
        #expect(budget.isEmpty)
    }

    @Test func thisMachineMayUseAllThatStrangersHave() {
        let budget = BodyLedger(limits: Self.limits)
        #expect(budget.reserve(300, for: .network(.local), on: 1))
        #expect(!budget.reserve(1, for: .network(.local), on: 1))
    }

    @Test func theLargestRequestFitsIntoTheSmallestBudget() {
        #expect(BodyLimits(total: BodyLimits.leastTotal).caller > 9_000_000 + 32 * 1024)
        #expect(BodyLimits().caller > 9_000_000 + 32 * 1024)
    }

    @Test(arguments: UInt64(0)..<50)
    func noLimitIsEverPassedAndEverythingReturnsToZero(seed: UInt64) {
        var chance = SeededGenerator(seed: seed)
        var budget = BodyBudget(limits: Self.limits)
        var held: [(count: Int, share: BodyBudget.Share, connection: UInt64)] = []
        let shares: [BodyBudget.Share] =
            [.network(.local), Self.stranger, .network(.ipv6(1)), .network(.ipv4(2))]
            + ["a", "b", "c", "d"].map { .caller($0, scope: "h") }
        for _ in 0..<500 {
            if chance.below(3) == 0, !held.isEmpty {
                let gone = held.remove(at: chance.below(held.count))
                budget.release(gone.count, of: gone.share, on: gone.connection)
            } else {
                let wanted = (chance.below(200), chance.one(of: shares), UInt64(chance.below(5)))
                if budget.reserve(wanted.0, for: wanted.1, on: wanted.2) { held.append(wanted) }
            }
            for share in shares {
                let used = held.filter { $0.share == share }.reduce(0) { $0 + $1.count }
                #expect(budget.used(by: share) == used)
                if case .caller = share { #expect(used <= Self.limits.caller) }
            }
            #expect(budget.known <= Self.limits.total && budget.unknown <= Self.limits.strangers)
            for connection in UInt64(0)..<5 { #expect(budget.used(on: connection) <= Self.limits.connection) }
        }
        for gone in held { budget.release(gone.count, of: gone.share, on: gone.connection) }
        #expect(budget.isEmpty)
    }
}

struct PeerNetworkTests {
    @Test(
        arguments: [
            ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
            ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true), ("2001:db8:0:1::1", "2001:db8:0:2::1", false),
            ("::ffff:192.0.2.1", "192.0.2.1", true), ("127.0.0.1", "::1", true),
            ("127.0.0.1", "::ffff:127.0.0.9", true),
        ])
    func addressesShareANetwork(one: String, other: String, isSame: Bool) throws {
        let networks = try [one, other].map { PeerNetwork(try #require(SocketAddress(address: $0, port: 1))) }
        #expect((networks[0] == networks[1]) == isSame)
    }

    @Test func thisMachineIsLocalUnlessItCounts() throws {
        let one = try #require(SocketAddress(address: "127.0.0.1", port: 1))
        let other = try #require(SocketAddress(address: "127.0.0.2", port: 1))
        let unix = try #require(SocketAddress(unixPath: "/a"))
        #expect(PeerNetwork(one) == .local)
        #expect(PeerNetwork(unix) == .local)
        #expect(PeerNetwork(unix, countsLoopback: true) == .local)
        #expect(PeerNetwork(one, countsLoopback: true) != PeerNetwork(other, countsLoopback: true))
    }
}
