import Testing

@testable import MartletCrypto

struct FairQueueTests {
    @Test func sharesTakeTurns() {
        var queue = FairQueue<String, Int>(countLimit: 10)
        for number in 1...4 { _ = queue.add(number, of: "a") }
        for number in 11...12 { _ = queue.add(number, of: "b") }
        var order: [Int] = []
        while let next = queue.next() { order.append(next) }
        #expect(order == [1, 11, 2, 12, 3, 4])
        #expect(queue.count == 0)
    }

    @Test func aFullQueueTakesFromTheLongestShare() {
        var queue = FairQueue<String, Int>(countLimit: 3)
        for number in 1...3 { _ = queue.add(number, of: "a") }
        #expect(Self.word(queue.add(4, of: "a")) == "full")
        #expect(Self.word(queue.add(11, of: "b")) == "replaced 3")
        // Two and one: as even as three can be.
        #expect(Self.word(queue.add(12, of: "b")) == "full")
        #expect(Self.word(queue.add(21, of: "c")) == "replaced 2")
        #expect(Self.word(queue.add(31, of: "d")) == "full")
        #expect([queue.next(), queue.next(), queue.next(), queue.next()] == [1, 11, 21, nil])
    }

    private static func word(_ admission: FairQueue<String, Int>.Admission) -> String {
        switch admission {
        case .waiting: "waiting"
        case .replaced(let number): "replaced \(number)"
        case .full: "full"
        }
    }

    private struct Ticket: Hashable {
        let share: Int
        let number: Int
    }

    @Test(arguments: UInt64(0)..<20) func aModelOfItServesTheSame(seed: UInt64) {
        var random = Steps(state: seed)
        var queue = FairQueue<Int, Ticket>(countLimit: 8)
        var model: [Int: [Ticket]] = [:]
        // Which shares had a turn since a share that waits had its own, or began to wait.
        var servedSince: [Int: Set<Int>] = [:]
        for number in 0..<500 {
            if random.next(5) < 2 {
                guard let ticket = queue.next() else {
                    #expect(model.isEmpty)
                    continue
                }
                #expect(model[ticket.share]?.first == ticket)
                model[ticket.share]?.removeFirst()
                if model[ticket.share] == [] { model[ticket.share] = nil }
                for other in model.keys where other != ticket.share {
                    let isNew = servedSince[other, default: []].insert(ticket.share).inserted
                    #expect(isNew, "\(ticket.share) had two turns while \(other) waited.")
                }
                servedSince[ticket.share] = nil
                continue
            }
            // Share 0 adds most of the time.
            let share = random.next(3) == 0 ? random.next(5) : 0
            let ticket = Ticket(share: share, number: number)
            let count = model.values.reduce(0) { $0 + $1.count }
            switch queue.add(ticket, of: share) {
            case .waiting: #expect(count < 8)
            case .replaced(let replaced):
                #expect(count == 8 && model[replaced.share]?.last == replaced)
                #expect(model[replaced.share]?.count == model.values.map(\.count).max())
                model[replaced.share]?.removeLast()
            case .full:
                let own = model[share]?.count ?? 0
                #expect(count == 8 && model.values.allSatisfy { $0.count <= own + 1 })
                continue
            }
            model[share, default: []].append(ticket)
            #expect(queue.count == model.values.reduce(0) { $0 + $1.count })
        }
    }

    /// SplitMix64.
    private struct Steps {
        var state: UInt64

        mutating func next(_ bound: Int) -> Int {
            state &+= 0x9E37_79B9_7F4A_7C15
            var bits = state
            bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
            bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
            return Int((bits ^ (bits >> 31)) % UInt64(bound))
        }
    }
}
