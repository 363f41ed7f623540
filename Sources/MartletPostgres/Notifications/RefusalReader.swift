import MartletCore
import MartletModel

/// The refusals of one delivery in the order of their members, from the values of its pages and from rows. Reads a
/// bounded part at a time.
struct RefusalReader {
    private let session: ShardSession
    private let delivery: Delivery.ID
    private var page: (records: PageRecords, index: Int)?
    private var isPastPages = false
    private var rows: ArraySlice<RecordedRefusal> = []
    private var isPastRows = false
    private var last: AudienceMember

    private static let batch = 500

    /// - Parameter member: The refusals after this member are read.
    init(_ session: ShardSession, of delivery: Delivery.ID, after member: AudienceMember) {
        self.session = session
        self.delivery = delivery
        last = member
    }

    /// Returns the next refusal that is wanted; nil if there is none.
    /// - Parameter isWanted: Decides by the outcome.
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
                // A row is newer.
                let row = rows.removeFirst()
                if isWanted(row.refusal.outcome) { return row }
            } else if let (records, index) = found, isWanted(records.outcome(ofRefusal: index)) {
                return records.recordedRefusal(index)
            }
        }
    }

    private mutating func fill() throws(StorageError) {
        if let current = page, current.index == current.records.refusalCount { page = nil }
        let table = PageRecordTable(session)
        // Where the next value begins; it may be about members before `last`, and have no refusals.
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
        rows = try RefusalTable(session).rows(of: delivery, after: last, limit: Self.batch)[...]
        isPastRows = rows.count < Self.batch
    }

    /// The last member of the value that was read last.
    private var pagesEnd: AudienceMember?
}
