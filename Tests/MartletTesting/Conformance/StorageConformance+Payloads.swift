import MartletCore
import MartletModel

extension StorageConformance {
    static let payloads: [Requirement] = [
        Requirement("A payload is found by its addressees alone, once it is published, until it expires") { bench in
            let draft = bench.payload("secret", type: "text", message: "Look")
            let id = try await bench.added(draft)
            try await bench.storage.addAddressees(["bob", "carol"], of: id)
            try require(try await bench.seen(id, by: "bob") == nil, is: true, "before it is published")
            try await bench.storage.publish(id)
            let found = try require(try await bench.seen(id, by: "bob"))
            try require(found.payload.id, is: id)
            try require(found.payload.kind, is: .secure)
            try require(found.payload.sender, is: "alice")
            try require(found.payload.type, is: "text")
            try require(found.payload.contentType, is: "text/plain")
            try require(found.payload.message, is: "Look")
            try require(found.payload.content, is: .text(Array("secret".utf8)))
            try require(found.payload.device == nil, is: true)
            try require(found.payload.createdAt, is: bench.now)
            try require(found.payload.expiresAt, is: bench.now + .seconds(60))
            for user in ["alice", "dave", "Bob", ""] {
                try require(try await bench.seen(id, by: user) == nil, is: true, user)
            }
            let end = bench.now + .seconds(60)
            try require(try await bench.seen(id, by: "bob", at: end) == nil, is: true)
            try require(try await bench.read(id, by: "bob", at: end) == nil, is: true)
        },
        Requirement("A payload keeps what it is of, and the name of its body") { bench in
            var draft = bench.payload("")
            draft.kind = .rich
            draft.content = .body(name: "b1", size: 12)
            draft.device = "1-2-3"
            let id = try await bench.sent(draft, to: ["bob"])
            let found = try require(try await bench.seen(id, by: "bob")).payload
            try require(found.kind, is: .rich)
            try require(found.content, is: .body(name: "b1", size: 12))
            try require(found.device, is: "1-2-3")
        },
        Requirement("An empty text is a text") { bench in
            let id = try await bench.sent(bench.payload(""), to: ["bob"])
            try require(try await bench.read(id, by: "bob")?.payload.content, is: .text([]))
        },
        Requirement("Reading is remembered for each addressee, looking is not") { bench in
            let id = try await bench.sent(bench.payload("x"), to: ["bob", "carol"])
            try require(try require(try await bench.seen(id, by: "bob")).readAt == nil, is: true)
            try require(try require(try await bench.read(id, by: "bob")).readAt == nil, is: true)
            let again = try await bench.read(id, by: "bob", at: bench.now + .seconds(5))
            try require(try require(again).readAt, is: bench.now)
            try require(try require(try await bench.read(id, by: "bob")).readAt, is: bench.now, "the first time")
            try require(try require(try await bench.seen(id, by: "carol")).readAt == nil, is: true)
        },
        Requirement("A text that can be read once is gone for a reader, and there for the others") { bench in
            let id = try await bench.sent(bench.payload("x", isOnce: true), to: ["bob", "carol"])
            try require(try require(try await bench.seen(id, by: "bob")).readAt == nil, is: true)
            try require(try require(try await bench.read(id, by: "bob")).payload.content, is: .text([0x78]))
            try require(try await bench.read(id, by: "bob") == nil, is: true)
            try require(try await bench.seen(id, by: "bob") == nil, is: true)
            try require(try require(try await bench.read(id, by: "carol")).payload.content, is: .text([0x78]))
            try require(try await bench.read(id, by: "carol") == nil, is: true)
        },
        Requirement("Only one of two concurrent reads of one user gets a text that can be read once") { bench in
            for _ in 0..<20 {
                let id = try await bench.sent(bench.payload("x", isOnce: true), to: ["bob"])
                let given = try await withThrowingTaskGroup { group in
                    for _ in 0..<4 { group.addTask { try await bench.read(id, by: "bob") != nil } }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                try require(given, is: 1)
            }
        },
        Requirement("Addressees are fixed when a payload is published") { bench in
            let id = try await bench.added(bench.payload("x"))
            try await bench.storage.addAddressees(["bob"], of: id)
            try await bench.storage.addAddressees(["bob", "carol"], of: id)
            try await bench.storage.publish(id)
            try await bench.storage.addAddressees(["dave"], of: id)
            try require(try await bench.seen(id, by: "dave") == nil, is: true)
            try require(try await bench.readers(id)?.map(\.user), is: ["bob", "carol"])
            try await bench.storage.addAddressees(["dave"], of: try require(PayloadID(rawValue: 1)))
        },
        Requirement("A payload that was withdrawn is nobody's") { bench in
            let id = try await bench.sent(bench.payload("x"), to: ["bob"])
            try await bench.storage.withdraw(id)
            try require(try await bench.seen(id, by: "bob") == nil, is: true)
            try require(try await bench.readers(id) == nil, is: true)
            try await bench.storage.withdraw(id)
        },
        Requirement("A user added after a payload was sent is another person of the same name") { bench in
            let id = try await bench.sent(bench.payload("x"), to: ["alice", "bob", "carol"])
            let users = [("Alice", 1), ("bob", 1), ("Carol", 0)]
            for (name, seconds) in users {
                try await bench.storage.putUser(
                    User(name: name, passwordHash: "", createdAt: bench.now + .seconds(Int64(seconds))))
            }
            try require(try await bench.seen(id, by: "bob") == nil, is: true)
            try require(try await bench.read(id, by: "bob") == nil, is: true)
            try require(try await bench.seen(id, by: "carol") == nil, is: false)
            try require(try await bench.readers(id) == nil, is: true, "the sender too")
        },
        Requirement("The sender is told who has read it, by name and in pages") { bench in
            let id = try await bench.sent(bench.payload("x"), to: ["carol", "bob", "zoë", "dave"])
            _ = try await bench.read(id, by: "carol", at: bench.now + .seconds(3))
            let page = try await bench.readers(id, limit: 2)
            let read = PayloadReader(user: "carol", readAt: bench.now + .seconds(3))
            try require(page, is: [PayloadReader(user: "bob", readAt: nil), read])
            try require(try await bench.readers(id, after: "carol", limit: 9)?.map(\.user), is: ["dave", "zoë"])
            try require(try await bench.readers(id, after: "zoë", limit: 9), is: [])
            try require(try await bench.readers(id, sentBy: "bob") == nil, is: true)
            try require(try await bench.readers(id, at: bench.now + .seconds(60)) == nil, is: true)
            let unpublished = try await bench.added(bench.payload("x"))
            try require(try await bench.readers(unpublished) == nil, is: true)
        },
    ]

    static let payloadQuotas: [Requirement] = [
        Requirement("A sender's live payloads take no more than the quota") { bench in
            let quota = 10 + 2 * StoredPayload.recordSize
            _ = try await bench.added(bench.payload("123456"), quota: quota)
            try await bench.expectOverQuota(bench.payload("12345"), quota)
            try await bench.expectOverQuota(bench.payload("12345678901"), 10 + StoredPayload.recordSize)
            var body = bench.payload("")
            body.content = .body(name: "b", size: .max)
            try await bench.expectOverQuota(body, quota)
            _ = try await bench.added(bench.payload("1234"), quota: quota)
            try await bench.expectOverQuota(bench.payload("1"), quota + StoredPayload.recordSize)
            try await bench.expectOverQuota(bench.payload(""), quota)
            _ = try await bench.added(bench.payload(""), quota: quota + StoredPayload.recordSize)
            var other = bench.payload("1234567890")
            other.sender = "bob"
            _ = try await bench.added(other, quota: quota)
        },
        Requirement("Payloads that have expired, were withdrawn or were read once by all do not count") { bench in
            // A payload that every addressee has read once still counts as a record.
            let quota = 10 + 2 * StoredPayload.recordSize
            let first = try await bench.sent(bench.payload("1234567890", isOnce: true), to: ["bob", "carol"])
            _ = try await bench.read(first, by: "bob")
            try await bench.expectOverQuota(bench.payload("1"), quota)
            _ = try await bench.read(first, by: "carol")
            let second = try await bench.added(bench.payload("1234567890"), quota: quota)
            try await bench.storage.withdraw(second)
            _ = try await bench.added(bench.payload("1234567890"), quota: quota)
            var later = bench.payload("1234567890")
            later.createdAt = bench.now + .seconds(60)
            _ = try await bench.added(later, quota: 10 + StoredPayload.recordSize)
        },
        Requirement("The total of a sender's payloads is returned") { bench in
            let record = StoredPayload.recordSize
            _ = try await bench.added(bench.payload("123456"), quota: 9 + 2 * record)
            var short = bench.payload("123")
            short.expiresAt = bench.now + .seconds(1)
            _ = try await bench.added(short, quota: 9 + 2 * record)
            let sender = bench.payload("").sender
            try require(try await bench.storage.payloadSize(sentBy: sender, at: bench.now), is: 9 + 2 * record)
            try require(
                try await bench.storage.payloadSize(sentBy: sender, at: bench.now + .seconds(1)), is: 6 + record)
            try require(try await bench.storage.payloadSize(sentBy: "nobody", at: bench.now), is: 0)
        },
        Requirement("As many concurrent additions succeed as fit in the quota") { bench in
            let quota = 10 + 3 * StoredPayload.recordSize
            let added = try await withThrowingTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await bench.storage.addPayload(bench.payload("123"), quota: quota) != .overQuota
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            try require(added, is: 3)
        },
    ]

    static let payloadAudits: [Requirement] = [
        Requirement("Every read and every refusal is noted, and looking is not") { bench in
            let id = try await bench.sent(bench.payload("x", isOnce: true), to: ["bob"])
            let unknown = try require(PayloadID(rawValue: id.rawValue == 5 ? 6 : 5))
            _ = try await bench.seen(id, by: "bob")
            _ = try await bench.seen(unknown, by: "bob")
            _ = try await bench.read(id, by: "bob", from: "10.0.0.1")
            _ = try await bench.read(id, by: "bob", from: "10.0.0.2")
            _ = try await bench.read(id, by: "eve", from: "10.0.0.3")
            _ = try await bench.read(unknown, by: "eve", at: bench.now + .seconds(9), from: "::1")
            let wanted = [
                PayloadAccess(at: bench.now, payload: id, user: "bob", outcome: .read, address: "10.0.0.1"),
                PayloadAccess(at: bench.now, payload: id, user: "bob", outcome: .refused, address: "10.0.0.2"),
                PayloadAccess(at: bench.now, payload: id, user: "eve", outcome: .refused, address: "10.0.0.3"),
                PayloadAccess(
                    at: bench.now + .seconds(9), payload: unknown, user: "eve", outcome: .refused, address: "::1"),
            ]
            try require(try await bench.audit(), is: wanted)
            try require(try await bench.audit(limit: 2), is: Array(wanted.suffix(2)), "the latest")
            try require(try await bench.audit(payload: id), is: Array(wanted.prefix(3)))
            try require(try await bench.audit(user: "eve"), is: Array(wanted.suffix(2)))
            try require(try await bench.audit(payload: id, user: "eve"), is: [wanted[2]])
            try require(try await bench.audit(payload: id, user: "dave"), is: [])
        },
        Requirement("Entries of others are in the audit log, with rising numbers") { bench in
            let access = PayloadAccess(
                at: bench.now, payload: try require(PayloadID(rawValue: 7)), user: "bob", outcome: .refused,
                address: "a")
            try await bench.storage.audit(access)
            try await bench.storage.audit(access)
            let entries = try await bench.storage.auditEntries(AuditQuery(limit: 9))
            try require(entries.map(\.access), is: [access, access])
            try require(entries[0].number < entries[1].number, is: true)
        },
    ]
}

extension StorageBench {
    /// Returns the draft of a text that Alice sends, and that expires after a minute.
    func payload(_ text: String, type: String = "", message: String = "", isOnce: Bool = false) -> PayloadDraft {
        PayloadDraft(
            kind: .secure, sender: "alice", type: type, contentType: "text/plain", message: message,
            content: .text(Array(text.utf8)), isOnce: isOnce, createdAt: now, expiresAt: now + .seconds(60))
    }

    func added(_ draft: PayloadDraft, quota: Int64 = .max) async throws -> PayloadID {
        guard case .added(let id) = try await storage.addPayload(draft, quota: quota) else {
            throw ConformanceFailure(description: "a payload within the quota was not added")
        }
        return id
    }

    func sent(_ draft: PayloadDraft, to users: [String]) async throws -> PayloadID {
        let id = try await added(draft)
        try await storage.addAddressees(users, of: id)
        try await storage.publish(id)
        return id
    }

    fileprivate func expectOverQuota(_ draft: PayloadDraft, _ quota: Int64) async throws {
        try require(try await storage.addPayload(draft, quota: quota), is: .overQuota)
    }

    fileprivate func seen(
        _ id: PayloadID, by user: String, at timestamp: Timestamp? = nil
    ) async throws -> AddressedPayload? {
        try await storage.payload(id, for: user, at: timestamp ?? now)
    }

    fileprivate func read(
        _ id: PayloadID, by user: String, at timestamp: Timestamp? = nil, from address: String = "::1"
    ) async throws -> AddressedPayload? {
        try await storage.readPayload(id, for: user, at: timestamp ?? now, from: address)
    }

    fileprivate func readers(
        _ id: PayloadID, sentBy user: String = "alice", after name: String? = nil, limit: Int = 100,
        at timestamp: Timestamp? = nil
    ) async throws -> [PayloadReader]? {
        try await storage.readers(of: id, sentBy: user, after: name, limit: limit, at: timestamp ?? now)
    }

    fileprivate func audit(
        payload: PayloadID? = nil, user: String? = nil, limit: Int = 100
    ) async throws -> [PayloadAccess] {
        try await storage.auditEntries(AuditQuery(payload: payload, user: user, limit: limit)).map(\.access)
    }
}
