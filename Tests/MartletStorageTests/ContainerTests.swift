import Foundation
import MartletCore
import MartletModel
import MartletTesting
import Testing

@testable import MartletStorage

struct ContainerTests {
    private let directory = TemporaryDirectory()

    @Test(arguments: ContainerConformance.requirements)
    func files(_ requirement: ContainerConformance.Requirement) async throws {
        try await requirement.check(try open())
    }

    @Test(arguments: ContainerConformance.requirements)
    func memory(_ requirement: ContainerConformance.Requirement) async throws {
        try await requirement.check(MemoryContainers())
    }

    @Test(arguments: [
        "", "/", "a//b", "/a", "a/", ".", "..", "a/../b", "a/./b", "...", "a\\b", "a\nb", "a\0b",
        String(repeating: "a", count: 256), String(repeating: "a/", count: 16) + "a",
        Array(repeating: String(repeating: "a", count: 200), count: 6).joined(separator: "/"),
    ])
    func aNameThatMightLeadElsewhereIsNone(_ name: String) {
        #expect(BlobName(name) == nil)
    }

    @Test(arguments: ["ab", "Jobs", "-jobs", "jobs-", "a--b", "a.b", "..", "a/b", String(repeating: "a", count: 64)])
    func aContainerHasAPlainName(_ name: String) {
        #expect(ContainerName(name) == nil)
    }

    @Test func uncommittedFilesAreRemovedAtTheNextStartAndResumableUploadsAreKept() async throws {
        let address = BlobAddress(try #require(ContainerName("jobs")), try #require(BlobName("a")))
        do {
            let store = try open()
            _ = try await store.createContainer(address.container)
            let resumable = try await store.upload(address, .resumable(key: "1-out", at: 0))
            try await resumable.write([1, 2, 3])
            // As a kill leaves it.
            let left = "\(directory.path)/uploads/upload-left"
            #expect(FileManager.default.createFile(atPath: left, contents: Data([1])))
            let block = try await store.uploadBlock([1], of: address)
            _ = try await block.commit(.none)
        }
        _ = try open()
        #expect(try files("uploads") == ["job-1-out"])
        #expect(try files("blocks/jobs/a/...") == ["01"])
        _ = try FileContainerStore(
            in: directory.path, room: DiskRoom(of: directory.path, reserve: 0), cleaningBefore: .distantFuture)
        #expect(try files("uploads").isEmpty)
        #expect(try files("blocks/jobs").isEmpty)
    }

    @Test func aListThatNamesABlockOftenIsHeldToTheLimitOfABlobAndNothingOfItIsWritten() async throws {
        let store = try open()
        let address = BlobAddress(try #require(ContainerName("jobs")), try #require(BlobName("a")))
        _ = try await store.createContainer(address.container)
        for id in [UInt8(1), 2] {
            let block = try await store.uploadBlock([id], of: address)
            try await block.write([id])
            _ = try await block.commit(.none)
        }
        // A hole takes no room on the disk: the block is a fifth of the limit long.
        let length = Blob.sizeLimit / 5
        #expect(truncate("\(directory.path)/blocks/jobs/a/.../01", Int(length)) == 0)
        await #expect(throws: ContainerError.tooLarge) {
            _ = try await store.commitBlocks(Array(repeating: [1], count: 5) + [[2]], of: address, .none)
        }
        #expect(try files("uploads").isEmpty)
        await #expect(throws: ContainerError.noBlob) { _ = try await store.openBlob(address) }
        #expect(try await store.commitBlocks([[2], [2]], of: address, .none).size == 2)
    }

    @Test(arguments: ["containers", "uploads", "blocks"])
    func aDirectoryOfTheStoreThatIsALinkIsRefused(name: String) throws {
        let elsewhere = TemporaryDirectory()
        #expect(symlink(elsewhere.path, "\(directory.path)/\(name)") == 0)
        #expect { _ = try open() } throws: {
            ($0 as? StorageError)?.detail.contains("'\(directory.path)/\(name)' is a symbolic link") == true
        }
    }

    @Test func aResumableUploadThatIsShorterThanItMustBeIsNotGoneOnWith() async throws {
        let store = try open()
        let address = BlobAddress(try #require(ContainerName("jobs")), try #require(BlobName("a")))
        _ = try await store.createContainer(address.container)
        await #expect(throws: ContainerError.self) {
            _ = try await store.upload(address, .resumable(key: "1-out", at: 10))
        }
        await #expect(throws: ContainerError.self) {
            _ = try await store.upload(address, .resumable(key: "../x", at: 0))
        }
    }

    private func open() throws -> FileContainerStore {
        try FileContainerStore(
            in: directory.path, room: DiskRoom(of: directory.path, reserve: 0), cleaningBefore: Timestamp(seconds: 0))
    }

    private func files(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(directory.path)/\(path)")
    }
}
