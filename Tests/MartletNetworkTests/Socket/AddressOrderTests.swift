import MartletTesting
import Testing

@testable import MartletNetwork

@Suite struct AddressOrderTests {
    private let fours = (1...4).compactMap { SocketAddress(address: "192.0.2.\($0)", port: 443) }
    private let sixes = (1...4).compactMap { SocketAddress(address: "2001:db8::\($0)", port: 443) }

    @Test func connectionsAreSpreadOverAllAddressesOfAName() {
        var chance = SeededGenerator(seed: 1)
        var firsts: [SocketAddress: Int] = [:]
        for _ in 0..<400 {
            let order = NameResolver.order(fours, using: &chance)
            #expect(Set(order) == Set(fours) && order.count == 4)
            firsts[order[0], default: 0] += 1
        }
        #expect(firsts.count == 4)
        #expect(firsts.values.allSatisfy { (60...140).contains($0) })
    }

    @Test func theFamiliesTakeTurnsBeginningWithTheOneThatIsPreferred() {
        var chance = SeededGenerator(seed: 2)
        for addresses in [sixes + fours, fours + sixes] {
            let order = NameResolver.order(addresses, using: &chance)
            let (first, second) = (addresses[0].family, addresses[7].family)
            #expect(order.map(\.family) == [first, second, first, second, first, second, first, second])
        }
        #expect(NameResolver.order([], using: &chance).isEmpty)
    }

    @Test func whereThereIsAConnectionAlreadyComesLast() {
        var chance = SeededGenerator(seed: 3)
        for _ in 0..<20 {
            let order = NameResolver.order(fours, taken: Set(fours.dropFirst()), using: &chance)
            #expect(order.first == fours[0])
        }
        #expect(Set(NameResolver.order(fours, taken: Set(fours), using: &chance)) == Set(fours))
    }
}
