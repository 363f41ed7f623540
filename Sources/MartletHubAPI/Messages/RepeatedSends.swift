import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import Synchronization

/// Remembers, for a short time, what sends came to, so that one which a client repeats because its answer was lost is
/// not delivered twice. A client that repeats sends the same `TrackingId` with the same request (wire document, trap 37).
///
/// Only requests that are equal in everything that matters count as repeated: an application may well use one tracking
/// id for sends that differ.
final class RepeatedSends: Sendable {
    /// What is known of a send.
    enum Memory: Hashable {
        /// It is new; whoever was told so says what it came to.
        case new
        /// The first of its kind is being taken right now.
        case underway
        case accepted(NotificationID)
    }

    /// A digest of the request.
    struct Key: Hashable, Sendable {
        private let digest: [UInt8]

        init(_ request: HTTPRequest, tracking: String, hub: Hub.ID) {
            var bytes = Array("\(hub.rawValue)\n\(tracking)\n\(request.target)\n".utf8)
            for field in request.fields where field.name != "authorization" {
                bytes += "\(field.name):\(field.value)\n".utf8
            }
            digest = SHA256.hash(bytes + request.body)
        }
    }

    fileprivate struct State {
        var memories: [Key: Memory] = [:]
        /// Those accepted, oldest first, with the moment at which each is forgotten.
        var accepted: [(key: Key, forgottenAt: Timestamp)] = []
        var forgotten = 0
    }

    private let time: any TimeSource
    private let lifetime: Duration
    private let limit: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - lifetime: How long a send is remembered; clients give up repeating after seconds.
    ///   - limit: The most sends that are remembered; the oldest go first.
    init(time: any TimeSource, lifetime: Duration = .seconds(120), limit: Int = 65_536) {
        self.time = time
        self.lifetime = lifetime
        self.limit = limit
    }

    /// What is known of a send; where that is nothing, it is underway from now on.
    func begin(_ key: Key) -> Memory {
        let now = time.now
        return state.withLock { state in
            state.forget(before: now, keeping: limit)
            if let memory = state.memories[key] { return memory }
            state.memories[key] = .underway
            return .new
        }
    }

    /// Says what a new send came to; nil where it was not accepted, so that the next attempt is a new one.
    func end(_ key: Key, _ id: NotificationID?) {
        let forgottenAt = time.now + lifetime
        state.withLock { state in
            state.memories[key] = id.map { .accepted($0) }
            if id != nil { state.accepted.append((key, forgottenAt)) }
        }
    }
}

extension RepeatedSends.State {
    fileprivate mutating func forget(before now: Timestamp, keeping limit: Int) {
        while forgotten < accepted.count,
            accepted[forgotten].forgottenAt <= now || accepted.count - forgotten > limit
        {
            memories[accepted[forgotten].key] = nil
            forgotten += 1
        }
        // The front is cut off seldom, so that each entry is moved about once.
        if forgotten > 1024, forgotten > accepted.count / 2 {
            accepted.removeFirst(forgotten)
            forgotten = 0
        }
    }
}
