public import MartletCore
public import MartletModel

extension PostgresStorage: PayloadStore {
    public func addPayload(_ draft: PayloadDraft, quota: Int64) async throws(StorageError) -> PayloadAddition {
        let size = draft.content.countedSize
        guard size <= quota else { return .overQuota }
        let sealer = sealer
        let added = try await transaction {
            connection, patience throws(DatabaseFailure) -> Result<PayloadAddition, StorageError> in
            var batch = Batch(PayloadStatements.lockTotal) { $0.add(draft.sender) }
            batch.append(.liveSize(of: draft.sender, at: draft.createdAt))
            let live = try connection.run(batch, patience)[1][0].integer(0)
            guard live <= quota - size else {
                try connection.run(Batch(PayloadStatements.forgetEmptyTotal) { $0.add(draft.sender) }, patience)
                return .success(.overQuota)
            }
            while true {
                let id = PayloadID.random()
                var writes: Batch
                do throws(StorageError) {
                    writes = try .storing(draft, as: id, sealer)
                } catch {
                    return .failure(error)
                }
                // If another payload has this id already, the loop tries another id.
                let inserted = try connection.run(Batch.inserting(draft, as: id), patience)[0]
                guard inserted.changes == 1 else { continue }
                writes.add(PayloadStatements.count) {
                    $0.add(draft.sender)
                    $0.add(size)
                }
                try connection.run(writes, patience)
                return .success(.added(id))
            }
        }
        return try added.get()
    }

    public func payloadSize(sentBy user: String, at now: Timestamp) async throws(StorageError) -> Int64 {
        try await read(Batch.liveSize(of: user, at: now))[0][0].integer(0)
    }

    public func addAddressees(_ users: [String], of id: PayloadID) async throws(StorageError) {
        try await transaction { connection, patience throws(DatabaseFailure) in
            var batch = Batch(PayloadStatements.lock) { $0.add(id.rawValue) }
            batch.add(PayloadStatements.addAddressees) {
                $0.add(id.rawValue)
                $0.add(users.map { Array($0.utf8) })
            }
            try connection.run(batch, patience)
        }
    }

    public func publish(_ id: PayloadID) async throws(StorageError) {
        _ = try await change(PayloadStatements.publish) { $0.add(id.rawValue) }
    }

    public func withdraw(_ id: PayloadID) async throws(StorageError) {
        try await transaction { connection, patience throws(DatabaseFailure) in
            var batch = Batch(PayloadStatements.expire) { $0.add(id.rawValue) }
            batch.add(PayloadStatements.removeText) { $0.add(id.rawValue) }
            try connection.run(batch, patience)
        }
    }

    // MARK: Reading

    public func payload(
        _ id: PayloadID, for user: String, at now: Timestamp
    ) async throws(StorageError) -> AddressedPayload? {
        let rows = try await read(Batch.finding(id, for: user))[0]
        return try SealedPayload(id, rows[0], at: now)?.opened(with: sealer)
    }

    public func readPayload(
        _ id: PayloadID, for user: String, at now: Timestamp, from address: String
    ) async throws(StorageError) -> AddressedPayload? {
        let found = try await transaction {
            connection, patience throws(DatabaseFailure) -> Result<SealedPayload?, StorageError> in
            var batch = Batch(PayloadStatements.lockAddressee) {
                $0.add(id.rawValue)
                $0.add(user)
            }
            batch.append(.finding(id, for: user))
            let row = try connection.run(batch, patience)[1][0]
            let found: SealedPayload?
            do throws(StorageError) {
                found = try SealedPayload(id, row, at: now)
            } catch {
                return .failure(error)
            }
            let outcome = found == nil ? PayloadAccess.Outcome.refused : .read
            var writes = Batch.recording(
                PayloadAccess(at: now, payload: id, user: user, outcome: outcome, address: address))
            if let found, found.readAt == nil {
                writes.add(PayloadStatements.markRead) {
                    $0.add(id.rawValue)
                    $0.add(user)
                    $0.add(now)
                }
                if found.draft.isOnce {
                    for statement in [PayloadStatements.countRead, PayloadStatements.removeReadText] {
                        writes.add(statement) { $0.add(id.rawValue) }
                    }
                }
            }
            try connection.run(writes, patience)
            return .success(found)
        }
        return try found.get()?.opened(with: sealer)
    }

    public func readers(
        of id: PayloadID, sentBy user: String, after name: String?, limit: Int, at now: Timestamp
    ) async throws(StorageError) -> [PayloadReader]? {
        var batch = Batch(PayloadStatements.isSender) {
            $0.add(id.rawValue)
            $0.add(user)
            $0.add(now)
        }
        batch.add(PayloadStatements.readers) {
            $0.add(id.rawValue)
            $0.add(name ?? "")
            $0.add(Int64(limit))
        }
        let rows = try await read(batch)
        guard rows[0].count > 0 else { return nil }
        return (0..<rows[1].count).map { index in
            PayloadReader(user: rows[1][index].text(0), readAt: rows[1][index].optionalTimestamp(1))
        }
    }

    // MARK: The audit log

    public func audit(_ access: PayloadAccess) async throws(StorageError) {
        try await transaction { connection, patience throws(DatabaseFailure) in
            _ = try connection.run(Batch.recording(access), patience)
        }
    }

    public func auditEntries(_ query: AuditQuery) async throws(StorageError) -> [AuditEntry] {
        let statement =
            switch (query.payload, query.user) {
            case (nil, nil): PayloadAuditStatements.all
            case (_, nil): PayloadAuditStatements.ofPayload
            case (nil, _): PayloadAuditStatements.ofUser
            default: PayloadAuditStatements.ofPayloadAndUser
            }
        let batch = Batch(statement) {
            $0.add(Int64(query.limit))
            $0.add(query.payload?.rawValue)
            $0.add(query.user)
        }
        let rows = try await read(batch)[0]
        var entries: [AuditEntry] = []
        for index in (0..<rows.count).reversed() { entries.append(try AuditEntry(rows[index])) }
        return entries
    }
}

// MARK: Receipts

extension PostgresStorage {
    /// Stores those of the given receipts that are for payloads. A receipt is ignored if the user is no addressee, or
    /// if the payload is for another device.
    /// - Parameter source: The device that sends the receipts, and its user.
    func addPayloadReceipts(
        _ receipts: [Receipt], from source: ReceiptSource, at now: Timestamp
    ) async throws(StorageError) {
        var batch = Batch()
        for receipt in receipts {
            guard case .payload(let id) = receipt.subject else { continue }
            batch.add(PayloadStatements.addReceipt) {
                $0.add(id.rawValue)
                $0.add(source.device)
                $0.add(receipt.event.rawValue)
                $0.add(source.user)
                $0.add(min(receipt.at, now))
                $0.add(now)
            }
        }
        guard !batch.calls.isEmpty else { return }
        try await transaction { [batch] connection, patience throws(DatabaseFailure) in
            _ = try connection.run(batch, patience)
        }
    }

    func payloadReceipts(
        of id: PayloadID, after last: DeviceReceipt?, limit: Int
    ) async throws(StorageError) -> [DeviceReceipt] {
        let batch = Batch(PayloadStatements.receipts) {
            $0.add(id.rawValue)
            $0.add(last?.device ?? "")
            $0.add(last?.event.rawValue ?? "")
            $0.add(Int64(limit))
        }
        let rows = try await read(batch)[0]
        var receipts: [DeviceReceipt] = []
        for index in 0..<rows.count {
            let row = rows[index]
            guard let event = Receipt.Event(rawValue: row.text(2)) else {
                throw StorageError(.corrupt, "A stored receipt cannot be read; restore a backup.")
            }
            receipts.append(DeviceReceipt(device: row.text(0), user: row.text(1), event: event, at: row.timestamp(3)))
        }
        return receipts
    }
}

extension Batch {
    fileprivate static func liveSize(of sender: String, at now: Timestamp) -> Batch {
        Batch(PayloadStatements.liveSize) {
            $0.add(sender)
            $0.add(now)
        }
    }

    fileprivate static func inserting(_ draft: PayloadDraft, as id: PayloadID) -> Batch {
        Batch(PayloadStatements.insert) {
            $0.add(id.rawValue)
            $0.add(draft.kind.rawValue)
            $0.add(draft.sender)
            $0.add(draft.type)
            $0.add(draft.contentType)
            $0.add(draft.message)
            $0.add(draft.content.body)
            $0.add(draft.content.size)
            $0.add(draft.isOnce)
            $0.add(draft.device)
            $0.add(draft.createdAt)
            $0.add(draft.expiresAt)
        }
    }

    /// Returns the statement that stores the text of a payload; an empty batch if the payload has a body instead.
    fileprivate static func storing(
        _ draft: PayloadDraft, as id: PayloadID, _ sealer: any Sealer
    ) throws(StorageError) -> Batch {
        guard case .text(let text) = draft.content else { return Batch() }
        let sealed = try sealer.seal(text, context: SealedPayload.context(id))
        return Batch(PayloadStatements.insertText) {
            $0.add(id.rawValue)
            $0.add(sealed)
        }
    }

    fileprivate static func finding(_ id: PayloadID, for user: String) -> Batch {
        Batch(PayloadStatements.find) {
            $0.add(id.rawValue)
            $0.add(user)
        }
    }

    fileprivate static func recording(_ access: PayloadAccess) -> Batch {
        Batch(PayloadAuditStatements.insert) {
            $0.add(access.at)
            $0.add(access.payload.rawValue)
            $0.add(access.user)
            $0.add(access.outcome.rawValue)
            $0.add(access.address)
        }
    }
}

extension StoredPayload.Content {
    /// The name of the body; nil for a text.
    fileprivate var body: String? {
        switch self {
        case .text: nil
        case .body(let name, _): name
        }
    }
}

extension AuditEntry {
    fileprivate init(_ row: Row) throws(StorageError) {
        guard let payload = PayloadID(rawValue: row.integer32(2)),
            let outcome = PayloadAccess.Outcome(rawValue: row.text(4))
        else { throw StorageError(.corrupt, "A stored entry of the audit cannot be read; restore a backup.") }
        self.init(
            number: row.integer(0),
            access: PayloadAccess(
                at: row.timestamp(1), payload: payload, user: row.text(3), outcome: outcome, address: row.text(5)))
    }
}
