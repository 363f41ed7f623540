import MartletCore
import MartletModel

extension StorageConformance {
    static let lanes: [Requirement] = [
        Requirement("Pauses and quarantines of lanes are kept with the step that begins them") { bench in
            let hub = try await bench.hub()
            let delivery = try await bench.accept(hub)
            let lane = LaneID(hub: hub, platform: bench.platform)
            func record(_ pauses: [LanePause] = [], _ quarantines: [String: Bool] = [:]) async throws {
                var step = DeliveryStep(delivery: delivery.id, isFannedOut: false, state: .processing)
                (step.pauses, step.quarantines) = (pauses, quarantines)
                try await bench.storage.record(step)
            }
            func pause(_ seconds: Int64, origin: String? = nil) -> LanePause {
                LanePause(
                    origin: origin, until: bench.now + .seconds(seconds), outcome: .throttled, reason: "Later")
            }
            try require(try await bench.storage.persistedLaneStates(at: bench.now), is: [])
            try await record([pause(60), pause(30, origin: "https://a")], ["": true, "topic": true])
            try await record([pause(20)], ["": false])
            let memories = try await bench.storage.persistedLaneStates(at: bench.now)
            try require(memories.map(\.lane), is: [lane])
            try require(Set(memories[0].pauses), is: [pause(60), pause(30, origin: "https://a")])
            try require(memories[0].quarantines, is: ["topic"])
            let later = try await bench.storage.persistedLaneStates(at: bench.now + .seconds(30))
            try require(later.map(\.pauses), is: [[pause(60)]])
            try await bench.storage.forgetPauses(of: hub)
            let left = try await bench.storage.persistedLaneStates(at: bench.now)
            try require(left, is: [PersistedLaneState(lane: lane, quarantines: ["topic"])])
        }
    ]
}
