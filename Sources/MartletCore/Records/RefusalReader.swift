/// Reads the refusals of one delivery in the order of their members, from rows and from `PageRecords`. It keeps at
/// most one `PageRecords` value in memory, and at most as many rows as `batch`.
public struct RefusalReader<Records: FailedPushRecords> {
    private let records: Records
    private let delivery: Delivery.ID
    private var page: (records: PageRecords, index: Int)?
    private var isPastPages = false
    private var rows: ArraySlice<RecordedRefusal> = []
    private var isPastRows = false
    private var last: AudienceMember

    private var batch: Int { 500 }

    /// Creates a reader of the refusals of a delivery.
    /// - Parameter member: Only the refusals of members after this member are read.
    public init(_ records: Records, of delivery: Delivery.ID, after member: AudienceMember) {
        self.records = records
        self.delivery = delivery
        last = member
    }

    /// Returns the next refusal whose outcome is wanted; nil if there is none.
    public mutating func next(
        where isWanted: (OutcomeName) -> Bool = { _ in true }
    ) throws(StorageError) -> RecordedRefusal? {
        while true {
            try fill()
            let inPage = page.map { $0.records.member(ofRefusal: $0.index) }
            let inRow = rows.first?.refusal.member
            guard let member = [inPage, inRow].compactMap(\.self).min() else { return nil }
            last = member
            let found = page
            if member == inPage { page?.index += 1 }
            if member == inRow {
                // If a row and the `PageRecords` both have a refusal of this member, the row is newer.
                let row = rows.removeFirst()
                if isWanted(row.refusal.outcome) { return row }
            } else if let (records, index) = found, isWanted(records.outcome(ofRefusal: index)) {
                return records.recordedRefusal(index)
            }
        }
    }

    private mutating func fill() throws(StorageError) {
        if let current = page, current.index == current.records.refusalCount { page = nil }
        // The next `PageRecords` value may have no refusals after `last`. In this case, the value that follows it is
        // read.
        while page == nil, !isPastPages {
            guard let next = try records.pageRecords(after: pagesEnd ?? last, in: delivery) else {
                isPastPages = true
                break
            }
            pagesEnd = next.last
            let index = next.records.firstRefusal(after: last)
            if index < next.records.refusalCount { page = (next.records, index) }
        }
        guard rows.isEmpty, !isPastRows else { return }
        rows = try records.refusalRows(after: last, in: delivery, limit: batch)[...]
        isPastRows = rows.count < batch
    }

    /// The last member of the `PageRecords` value that was read most recently; nil if none has been read.
    private var pagesEnd: AudienceMember?
}
