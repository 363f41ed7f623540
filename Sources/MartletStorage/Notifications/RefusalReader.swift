import MartletCore
import MartletModel

/// Reads the refusals of one delivery in the order of their members, from rows and from `PageRecords`. It keeps at
/// most one `PageRecords` value in memory, and at most as many rows as `Self.batch`.
struct RefusalReader {
    private let connection: Connection
    private let delivery: Delivery.ID
    private var page: (records: PageRecords, index: Int)?
    private var isPastPages = false
    private var rows: ArraySlice<RecordedRefusal> = []
    private var isPastRows = false
    private var last: AudienceMember

    private static let batch = 500

    /// Creates a reader of the refusals of a delivery.
    /// - Parameter member: Only the refusals of members after this member are read.
    init(_ connection: Connection, of delivery: Delivery.ID, after member: AudienceMember) {
        self.connection = connection
        self.delivery = delivery
        last = member
    }

    /// Returns the next refusal whose outcome is wanted; nil if there is none.
    mutating func next(
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
        let table = PageRecordTable(connection)
        // The next `PageRecords` value may have no refusals after `last`. In this case, the value that follows it is
        // read.
        while page == nil, !isPastPages {
            guard let next = try table.records(after: pagesEnd ?? last, in: delivery) else {
                isPastPages = true
                break
            }
            pagesEnd = next.last
            let index = next.records.firstRefusal(after: last)
            if index < next.records.refusalCount { page = (next.records, index) }
        }
        guard rows.isEmpty, !isPastRows else { return }
        rows = try RefusalTable(connection).rows(of: delivery, after: last, limit: Self.batch)[...]
        isPastRows = rows.count < Self.batch
    }

    /// The last member of the `PageRecords` value that was read most recently; nil if none has been read.
    private var pagesEnd: AudienceMember?
}
