import MartletTesting
import Testing

@testable import MartletNetwork

struct ConnectionSharesTests {
    @Test func aNetworkHasAShareAndThisMachineAllThereIs() {
        var shares = ConnectionShares(limit: 10, share: 3)
        let greedy = (0..<4).map { _ in shares.admit(.ipv4(1)) }
        #expect(greedy == [true, true, true, false])
        #expect(shares.shortage(for: .ipv4(1)) == .of(.ipv4(1)))
        let modest = shares.admit(.ipv4(2))
        #expect(modest)
        #expect(shares.shortage(for: .ipv4(2)) == nil)
        let local = (0..<7).map { _ in shares.admit(.local) }
        #expect(local == [true, true, true, true, true, true, false])
        #expect(shares.shortage(for: .local) == .everywhere)
        shares.release(.ipv4(1))
        let again = shares.admit(.ipv4(1))
        #expect(again)
    }

    @Test(arguments: UInt64(0)..<20)
    func countsAreRightWhateverHappens(seed: UInt64) {
        var chance = SeededGenerator(seed: seed)
        var shares = ConnectionShares(limit: 40, share: 15)
        var open: [PeerNetwork] = []
        for _ in 0..<500 {
            if chance.below(5) < 2, !open.isEmpty {
                shares.release(open.remove(at: chance.below(open.count)))
            } else {
                let network = chance.one(of: [PeerNetwork.local, .ipv4(1), .ipv4(2), .ipv6(1)])
                if shares.admit(network) { open.append(network) }
            }
            #expect(shares.total == open.count && open.count <= 40)
            for network in [PeerNetwork.ipv4(1), .ipv4(2), .ipv6(1)] {
                #expect(shares.count(of: network) == open.count { $0 == network })
                #expect(shares.count(of: network) <= 15)
            }
        }
    }
}
