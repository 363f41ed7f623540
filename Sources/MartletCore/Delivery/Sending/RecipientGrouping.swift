import MartletHTTP
import MartletModel

/// Groups the members of a page so that the requests of each group can share a batch. Does no I/O.
struct RecipientGrouping {
    struct Group {
        var indices: [Int] = []
        var haveOwnBodies = false
        fileprivate var body: [UInt8]
        /// Whether the push service sends one body to all devices. If false, the push service writes a body for each
        /// device.
        fileprivate let sharesBody: Bool
    }

    private enum Fate {
        case unknown
        case group(Int)
        case refused(Outcome)
    }

    private(set) var groups: [Group] = []
    /// The message of each template binding, or of each variant, by its index in the page. A refused template binding
    /// or variant has an empty message.
    private(set) var messages: [Message]
    /// The approximate memory, in bytes, of the messages and of the bodies that are written for single devices.
    private(set) var bytes = 0
    private var fates: [Fate]
    private var groupOfShared: [RequestBatch.Shared: Int] = [:]

    /// - Parameter renderings: The number of template bindings, or of variants, in the page.
    init(renderings: Int) {
        messages = Array(repeating: Message(body: []), count: renderings)
        fates = Array(repeating: .unknown, count: renderings)
    }

    func isUnknown(_ rendering: Int) -> Bool {
        if case .unknown = fates[rendering] { true } else { false }
    }

    mutating func refuse(_ rendering: Int, _ outcome: Outcome) {
        fates[rendering] = .refused(outcome)
    }

    /// Adds the message of a template binding or variant, and assigns the message to a group.
    /// - Parameter shared: The part of the request that all requests with this message have in common.
    mutating func take(_ message: Message, _ rendering: Int, _ shared: RequestBatch.Shared) {
        messages[rendering] = message
        bytes += message.memoryBytes
        var key = shared
        key.body = nil
        if let found = groupOfShared[key] {
            if groups[found].body != message.body { groups[found].haveOwnBodies = true }
            fates[rendering] = .group(found)
        } else {
            groupOfShared[key] = groups.count
            fates[rendering] = .group(groups.count)
            groups.append(Group(body: message.body, sharesBody: shared.body != nil))
        }
    }

    /// Adds a member to the group of its message.
    /// - Returns: The outcome of the member if there is no message for it; otherwise nil.
    mutating func add(_ index: Int, _ rendering: Int) -> Outcome? {
        switch fates[rendering] {
        case .group(let number):
            groups[number].indices.append(index)
            if groups[number].haveOwnBodies || !groups[number].sharesBody { bytes += messages[rendering].body.count }
            return nil
        case .refused(let outcome): return outcome
        case .unknown: return Outcome(.unknownError, .refuse)
        }
    }
}
