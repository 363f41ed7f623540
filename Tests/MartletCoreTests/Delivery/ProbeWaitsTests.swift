import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

struct ProbeWaitsTests {
    /// What must hold, in the simplest form.
    private struct Model {
        var waits: [Delivery.ID: Set<Int>] = [:]
        var released: Set<Delivery.ID> = []

        mutating func end(_ origin: Int) {
            for (delivery, origins) in waits where origins.contains(origin) {
                waits[delivery] = nil
                released.insert(delivery)
            }
        }
    }

    @Test func onlyAFewOfManyOriginsAreRemembered() {
        var waits = ProbeWaits<Int>()
        let delivery = Delivery.ID(rawValue: 1)
        waits.wait(delivery, for: Set(0..<100))
        waits.wait(Delivery.ID(rawValue: 2), for: [200])
        var ended = 0
        for origin in 0..<100 {
            var others = waits
            if others.end(origin) { ended += 1 }
        }
        #expect(ended == 8)
        waits.end { $0 < 100 }
        #expect(waits.takeReleased() == [delivery])
        #expect(waits.count == 1)
    }

    @Test(arguments: UInt64(0)..<50)
    func aDeliveryWaitsUntilTheFirstOfItsProbesEndsAndIsReleasedOnce(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (waits, model) = (ProbeWaits<Int>(), Model())
        for _ in 0..<500 {
            let delivery = Delivery.ID(rawValue: Int64.random(in: 1...8, using: &random))
            let origin = Int.random(in: 0..<5, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2:
                let origins = Set((0..<5).filter { _ in Bool.random(using: &random) })
                waits.wait(delivery, for: origins)
                model.waits[delivery] = origins.isEmpty ? nil : origins
            case 3, 4:
                let isAwaited = model.waits.values.contains { $0.contains(origin) }
                #expect(waits.end(origin) == isAwaited)
                model.end(origin)
            case 5:
                waits.end { $0 < 2 }
                model.end(0)
                model.end(1)
            case 6:
                waits.forget(delivery)
                model.waits[delivery] = nil
            default:
                #expect(waits.takeReleased() == model.released)
                model.released = []
            }
            #expect(waits.count == model.waits.count)
            #expect(waits.contains(delivery) == (model.waits[delivery] != nil))
        }
    }
}
