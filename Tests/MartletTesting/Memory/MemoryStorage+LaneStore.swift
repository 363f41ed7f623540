public import MartletCore
public import MartletModel
import Synchronization

extension MemoryStorage: LaneStore {
    public func persistedLaneStates(at now: Timestamp) async throws(StorageError) -> [PersistedLaneState] {
        state.withLock { state in
            Set(state.pauses.keys).union(state.quarantines.keys).map { lane in
                PersistedLaneState(
                    lane: lane, pauses: (state.pauses[lane] ?? []).filter { $0.until > now },
                    quarantines: (state.quarantines[lane] ?? []).sorted())
            }.filter { !$0.pauses.isEmpty || !$0.quarantines.isEmpty }
        }
    }

    public func forgetPauses(of hub: Hub.ID) async throws(StorageError) {
        state.withLock { state in state.pauses = state.pauses.filter { $0.key.hub != hub } }
    }
}

extension MemoryState {
    mutating func recordLane(_ step: DeliveryStep, of delivery: Delivery) {
        let lane = LaneID(hub: delivery.notification.hub, platform: delivery.platform)
        for pause in step.pauses {
            var kept = pauses[lane, default: []]
            let known = kept.first { $0.origin == pause.origin }
            kept.removeAll { $0.origin == pause.origin }
            var new = pause
            new.until = max(pause.until, known?.until ?? pause.until)
            pauses[lane] = kept + [new]
        }
        for (application, isQuarantined) in step.quarantines {
            if isQuarantined {
                quarantines[lane, default: []].insert(application)
            } else {
                quarantines[lane]?.remove(application)
            }
        }
    }
}
