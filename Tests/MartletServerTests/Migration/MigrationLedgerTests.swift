import MartletCore
import MartletModel
import Testing

@testable import MartletServer

@Suite("The ledger of a migration")
struct MigrationLedgerTests {
    private typealias Ledger = MigrationLedger

    private let key = MigrationLedger.Key.registration("1")
    private let now = MigrationLedger.Stored(version: 1, createdAt: Timestamp(milliseconds: 7))

    private func ledger(_ entry: MigrationLedger.Entry) -> MigrationLedger {
        var ledger = MigrationLedger()
        ledger.set(key, entry)
        return ledger
    }

    @Test("An item without a record is copied, and an item that an app has written is kept")
    func unknownRegistrations() {
        #expect(Ledger().decision(key, source: 5, stored: nil) == .write(.absent))
        #expect(Ledger().decision(key, source: 5, stored: now) == .kept)
    }

    @Test("A copy is written again when the source has changed")
    func copies() {
        let ledger = ledger(.init(source: 5, version: 1, createdAt: 7, pass: 1))
        #expect(ledger.decision(key, source: 5, stored: now) == .unchanged)
        #expect(ledger.decision(key, source: 6, stored: now) == .write(.version(1)))
    }

    @Test("A copy that an app has written since is the app's, even with the same version after a deletion")
    func appsWritesStay() {
        let ledger = ledger(.init(source: 5, version: 1, createdAt: 7, pass: 1))
        for stored in [
            Ledger.Stored(version: 2, createdAt: Timestamp(milliseconds: 7)),
            Ledger.Stored(version: 1, createdAt: Timestamp(milliseconds: 8)),
        ] {
            #expect(ledger.decision(key, source: 6, stored: stored) == .kept)
        }
    }

    @Test("A copy that was removed here comes back only when the source changes")
    func removedCopies() {
        let ledger = ledger(.init(source: 5, version: 1, createdAt: 7, pass: 1))
        #expect(ledger.decision(key, source: 5, stored: nil) == .kept)
        #expect(ledger.decision(key, source: 6, stored: nil) == .write(.absent))
    }

    @Test("After a kill between intent and write the copy is made; after the write it is known as a copy")
    func intents() {
        let ledger = ledger(.init(source: 5, version: 1, createdAt: 0, pass: 1))
        #expect(ledger.decision(key, source: 5, stored: nil) == .write(.absent))
        #expect(ledger.decision(key, source: 5, stored: now) == .unchanged)
    }

    @Test("The file gives the same ledger, and a line that a kill has cut short is left out")
    func theFile() {
        var ledger = ledger(.init(source: 5, version: 1, createdAt: 7, pass: 1))
        ledger.setCheckpoint(#"{"continuation":"a b"}"#)
        let read = MigrationLedger(parsing: Array((ledger.text + "E 1 2 3").utf8))
        #expect(read.entries == ledger.entries)
        #expect(read.checkpoint == ledger.checkpoint)
        #expect(read.pass == 1)
        ledger.endPass()
        #expect(MigrationLedger(parsing: Array(ledger.text.utf8)).pass == 2)
        #expect(ledger.checkpoint == "null")
    }

    @Test("Neither an id nor a handle is in the file")
    func noIDs() {
        var ledger = MigrationLedger()
        ledger.set(.installation("somebodys-phone"), .init(source: 5, version: 1, createdAt: 7, pass: 1))
        #expect(!ledger.text.contains("somebodys-phone"))
    }
}
