import MartletCore
import Testing

@testable import MartletServer

struct HubChangesTests {
    private let hub = Hub.ID(rawValue: 1)

    @Test func changesWhoseHintsHaveComeAreKnownInAnyOrder() {
        var changes = HubChanges()
        changes.read(hub, through: 4)
        for change in [6, 5, 8, 7] as [Int64] { changes.hear(change, of: hub) }
        #expect(changes.missing([hub: 8]).isEmpty)
        #expect(changes.missing([hub: 9]) == [hub])
    }

    @Test func aLostHintIsNotHiddenByLaterHints() {
        var changes = HubChanges()
        changes.read(hub, through: 4)
        for change in [6, 7] as [Int64] { changes.hear(change, of: hub) }
        #expect(changes.missing([hub: 7]) == [hub])
        changes.read(hub, through: 7)
        #expect(changes.missing([hub: 7]).isEmpty)
        changes.hear(8, of: hub)
        #expect(changes.missing([hub: 8]).isEmpty)
    }

    @Test func aHintThatComesAfterTheReadingChangesNothing() {
        var changes = HubChanges()
        changes.read(hub, through: 4)
        changes.read(hub, through: 6)
        for change in [5, 6, 8] as [Int64] { changes.hear(change, of: hub) }
        #expect(changes.missing([hub: 8]) == [hub])
        changes.read(hub, through: 7)
        #expect(changes.missing([hub: 8]).isEmpty, "the hint of 8 has come")
    }

    @Test func ofAHubThatWasNotReadEverythingIsMissing() {
        var changes = HubChanges()
        changes.hear(1, of: hub)
        #expect(changes.missing([hub: 0]) == [hub])
        changes.read(hub, through: 1)
        #expect(changes.missing([hub: 1]).isEmpty)
        changes.forget(hub)
        #expect(changes.missing([hub: 1]) == [hub])
    }
}
