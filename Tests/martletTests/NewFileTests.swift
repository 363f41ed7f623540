import Foundation
import MartletServer
import Testing

@testable import martlet

struct NewFileTests {
    private let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    }

    private var path: String { directory.appendingPathComponent("new").path }

    private func entries() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory.path) }

    @Test(arguments: [false, true]) func aFileHasItsNameOnceItIsComplete(needsName: Bool) throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = try NewFile(path, needsName: needsName)
        #expect(file.take([1, 2]))
        try file.write([3])
        #expect(access(path, F_OK) != 0)
        try file.complete()
        #expect(try entries() == ["new"])
        #expect(try Data(contentsOf: directory.appendingPathComponent("new")) == Data([1, 2, 3]))
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test(arguments: [false, true]) func incompleteFilesAreRemoved(needsName: Bool) throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try { _ = try NewFile(path, needsName: needsName).take([1]) }()
        #expect(try entries() == [])
    }

    @Test func anIncompleteFileHasNoNameThatAKillCouldLeave() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = try NewFile(path)
        #expect(file.take([1, 2]))
        #expect(try entries() == [])
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.temporary)) == Data([1, 2]))
    }

    @Test func aFileThatGotTheNameMeanwhileIsKept() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = try NewFile(path)
        try Data("mine".utf8).write(to: directory.appendingPathComponent("new"))
        #expect(throws: ServerError.self) { try file.complete() }
        #expect(try Data(contentsOf: directory.appendingPathComponent("new")) == Data("mine".utf8))
    }

    @Test(arguments: [false, true]) func aFileThatIsThereStays(needsName: Bool) throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try Data("mine".utf8).write(to: directory.appendingPathComponent("new"))
        #expect(throws: ServerError.self) { try NewFile(path, needsName: needsName) }
        #expect(try entries() == ["new"])
        #expect(try Data(contentsOf: directory.appendingPathComponent("new")) == Data("mine".utf8))
    }
}
