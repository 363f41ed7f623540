import MartletModel

/// The receipts that the server has not accepted yet, oldest first.
struct ReceiptQueue: Hashable, Storable {
    /// The maximum number of receipts that are kept; the oldest are dropped first.
    static let limit = 2000
    /// The maximum number of receipts in one request.
    static let batchLimit = 500
    /// The maximum length of an id in bytes; the server's ids are far shorter.
    static let idLimit = 128

    private(set) var receipts: [Receipt] = []

    /// Adds a receipt, unless the queue already has one for the same notification and event, or the id of the
    /// notification is too long.
    mutating func add(_ receipt: Receipt) {
        guard receipt.notification.utf8.count <= Self.idLimit,
            !receipts.contains(where: { $0.notification == receipt.notification && $0.event == receipt.event })
        else { return }
        receipts.append(receipt)
        receipts.removeFirst(max(0, receipts.count - Self.limit))
    }

    /// The receipts of the next request, which are all of one device.
    var batch: [Receipt] {
        guard let device = receipts.first?.device else { return [] }
        return Array(receipts.lazy.filter { $0.device == device }.prefix(Self.batchLimit))
    }

    mutating func remove(_ batch: [Receipt]) {
        let batch = Set(batch)
        receipts.removeAll { batch.contains($0) }
    }
}

extension ReceiptQueue {
    init(_ bytes: [UInt8]?) {
        for json in bytes.flatMap({ try? JSON(parsing: $0) })?.array ?? [] {
            guard let notification = json["notification"]?.string, let device = json["device"]?.string,
                let event = json["event"]?.string.flatMap({ Receipt.Event(rawValue: $0) }),
                let at = json["at"]?.string.flatMap({ Timestamp(iso8601: $0) })
            else { continue }
            add(Receipt(notification: notification, event: event, at: at, device: device))
        }
    }

    var bytes: [UInt8]? {
        guard !receipts.isEmpty else { return nil }
        return JSON.array(
            receipts.map { receipt in
                var members = receipt.members
                members["device"] = .string(receipt.device)
                return .object(members)
            }
        ).bytes
    }
}

extension Receipt {
    /// The receipt as JSON members, for the store and for the request.
    var members: [String: JSON] {
        ["notification": .string(notification), "event": .string(event.rawValue), "at": .string(at.iso8601)]
    }
}
