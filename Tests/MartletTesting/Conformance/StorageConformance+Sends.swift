import MartletCore
import MartletModel

extension StorageConformance {
    static let sends: [Requirement] = [
        Requirement("A send is remembered for a day by its key, with its payloads") { bench in
            let payloads = [PayloadID(rawValue: 7), nil, PayloadID(rawValue: 9)]
            let record = SendRecord(Self.request(1, 1), payloads: payloads, startedAt: bench.now)
            let store = bench.storage
            try require(try await store.sendRecord(record.request.key, at: bench.now), is: nil)
            try require(try await store.addSendRecord(record), is: record)
            let end = bench.now + RequestIdentity.lifetime
            try require(
                try await store.sendRecord(record.request.key, at: end + .milliseconds(-1)), is: record)
            try require(try await store.sendRecord(record.request.key, at: end), is: nil)
            try require(try await store.sendRecord(Self.request(2, 1).key, at: bench.now), is: nil)
        },
        Requirement("The first of two sends of one key stays, until it is forgotten or removed") { bench in
            let first = SendRecord(Self.request(1, 1), payloads: [nil], startedAt: bench.now)
            let second = SendRecord(Self.request(1, 2), payloads: [], startedAt: bench.now + .seconds(1))
            let store = bench.storage
            _ = try await store.addSendRecord(first)
            try require(try await store.addSendRecord(second), is: first)
            try await store.completeSend(first.request.key)
            try require(try await store.addSendRecord(second).isComplete, is: true)
            let later = SendRecord(
                Self.request(1, 3), payloads: [nil], startedAt: bench.now + RequestIdentity.lifetime)
            try require(try await store.addSendRecord(later), is: later)
            try await store.removeSendRecord(first.request.key)
            try require(try await store.addSendRecord(first), is: first)
        },
    ]

    private static func request(_ key: UInt8, _ fingerprint: UInt8) -> RequestIdentity {
        RequestIdentity(
            key: Array(repeating: key, count: 32), fingerprint: Array(repeating: fingerprint, count: 32))
    }
}
