import MartletModel

/// The receipts that the server has not taken yet, oldest first.
struct ReceiptQueue: Hashable, Storable {
    /// How many are kept; the oldest go first.
    static let limit = 2000
    /// How many go out at a time.
    static let batchLimit = 500
    /// The longest id that is kept, in bytes; the server's are far shorter.
    static let idLimit = 128

    private(set) var receipts: [Receipt] = []

    /// Adds a receipt unless there is one for the same.
    mutating func add(_ receipt: Receipt) {
        guard receipt.notification.utf8.count <= Self.idLimit,
            !receipts.contains(where: { $0.notification == receipt.notification && $0.event == receipt.event })
        else { return }
        receipts.append(receipt)
        receipts.removeFirst(max(0, receipts.count - Self.limit))
    }

    /// What goes out next: receipts of one device.
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
    /// As JSON members, of the request as well.
    var members: [String: JSON] {
        ["notification": .string(notification), "event": .string(event.rawValue), "at": .string(at.iso8601)]
    }
}
