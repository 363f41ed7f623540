import Foundation
import Testing

@testable import MartletServer

struct MigrationStatesTests {
    private typealias Entry = MigrationLedger.Entry

    private let directory = TemporaryDirectory()
    private var path: String { "\(directory.path)/1" }

    private func entry(_ source: UInt64) -> Entry { Entry(source: source, version: 1, createdAt: 7, pass: 1) }

    private func stored(_ id: String) throws -> Entry? {
        try MigrationState(path).read { $0.entries[.registration(id)] }
    }

    @Test func changesAreReadBack() throws {
        let state = try MigrationState(path)
        try state.set([(.registration("a"), entry(1)), (.registration("b"), entry(2))])
        try state.setCheckpoint("{}")
        #expect(try stored("a") == entry(1) && stored("b") == entry(2))
        #expect(try MigrationState(path).read(\.checkpoint) == "{}")
    }

    @Test func aFileThatCannotBeExaminedIsNotTakenForNone() throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
        #expect(throws: ServerError.self) { try MigrationState(path) }
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == path)
    }

    @Test func aLineThatWasWrittenInPartDamagesNeitherItsEntryNorTheNext() throws {
        let state = try MigrationState(path)
        try state.set([(.registration("a"), entry(1))])
        let text = try String(contentsOfFile: path, encoding: .utf8)
        // The file is away, so the change fails; then it is back, with the part that a full disk took of the line.
        try FileManager.default.removeItem(atPath: path)
        #expect(throws: ServerError.self) { try state.set([(.registration("b"), entry(2))]) }
        let line = MigrationLedger.line(.registration("b"), entry(2))
        try (text + line.prefix(line.count / 2)).write(toFile: path, atomically: true, encoding: .utf8)
        try state.set([(.registration("c"), entry(3))])
        #expect(try stored("a") == entry(1))
        #expect(try stored("b") == entry(2))
        #expect(try stored("c") == entry(3))
    }
}
