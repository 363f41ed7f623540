public import MartletCore

/// The behaviour of a `ContainerStore`, as requirements that every implementation must meet.
public enum ContainerConformance {
    /// A requirement: one sentence, and a check of it on an empty store.
    public struct Requirement: Sendable, CustomStringConvertible {
        public let description: String
        private let body: @Sendable (any ContainerStore) async throws -> Void

        init(_ description: String, _ body: @escaping @Sendable (any ContainerStore) async throws -> Void) {
            self.description = description
            self.body = body
        }

        /// Checks that a store meets the requirement.
        /// - Parameter store: An empty store.
        /// - Throws: `ConformanceFailure` if the store does not meet the requirement.
        public func check(_ store: any ContainerStore) async throws {
            try await body(store)
        }
    }

    public static let requirements: [Requirement] = [
        Requirement("A container is there once and goes with its blobs") { store in
            let name = try Self.name("jobs")
            try require(try await store.createContainer(name), is: true)
            try require(try await store.createContainer(name), is: false)
            try require(try await store.containers(), is: [name])
            try await Self.put("a", "x", in: store)
            try await store.deleteContainer(name)
            try require(try await store.containers(), is: [])
            try await Self.expect(.noContainer) { try await store.deleteContainer(name) }
            try await Self.expect(.noContainer) { try await Self.put("a", "x", in: store) }
            _ = try await store.createContainer(name)
            try require(try await store.blobs(BlobQuery(container: name, limit: 10)).blobs.count, is: 0)
        },
        Requirement("A blob is seen once it is committed, whole, and replaced at once") { store in
            _ = try await store.createContainer(try Self.name("jobs"))
            let address = try Self.address("hub/1/Output.txt")
            let upload = try await store.upload(address, .fresh)
            try await upload.write(Array("hello ".utf8))
            try await Self.expect(.noBlob) { _ = try await store.openBlob(address) }
            try await upload.write(Array("world".utf8))
            let first = try await upload.commit(.none)
            try require(first.size, is: 11)
            let reading = try await store.openBlob(address)
            try require(reading.blob, is: first)
            let second = try await Self.put("hub/1/Output.txt", "other", in: store)
            try require(second.entityTag == first.entityTag, is: false)
            try require(String(decoding: try await reading.read(at: 6, count: 100), as: UTF8.self), is: "world")
            try require(try await Self.text("hub/1/Output.txt", in: store), is: "other")
        },
        Requirement("An upload that is let go of leaves nothing") { store in
            _ = try await store.createContainer(try Self.name("jobs"))
            let upload = try await store.upload(try Self.address("a"), .fresh)
            try await upload.write([1, 2, 3])
            await upload.abandon()
            try await Self.expect(.noBlob) { _ = try await store.openBlob(try Self.address("a")) }
        },
        Requirement("A condition is checked when the blob takes its place") { store in
            _ = try await store.createContainer(try Self.name("jobs"))
            let address = try Self.address("a")
            let late = try await store.upload(address, .fresh)
            let first = try await Self.put("a", "1", in: store, .absent)
            try await Self.expect(.conditionFailed) { _ = try await late.commit(.absent) }
            try await Self.put("a", "2", in: store, .entityTag(first.entityTag))
            try await Self.expect(.conditionFailed) {
                try await Self.put("a", "3", in: store, .entityTag(first.entityTag))
            }
            try require(try await Self.text("a", in: store), is: "2")
        },
        Requirement("Blocks become a blob in the order of the list, and are forgotten") { store in
            _ = try await store.createContainer(try Self.name("jobs"))
            let address = try Self.address("big/one")
            for (id, text) in [(1, "one "), (2, "two "), (3, "three ")] {
                let block = try await store.uploadBlock([UInt8(id)], of: address)
                try await block.write(Array(text.utf8))
                _ = try await block.commit(.none)
            }
            try await Self.expect(.noBlob) { _ = try await store.openBlob(address) }
            try await Self.expect(.noBlock) { _ = try await store.commitBlocks([[1], [9]], of: address, .none) }
            _ = try await store.commitBlocks([[3], [1], [3]], of: address, .none)
            try require(try await Self.text("big/one", in: store), is: "three one three ")
            try await Self.expect(.noBlock) { _ = try await store.commitBlocks([[1]], of: address, .none) }
        },
        Requirement("A resumable upload goes on from an offset that it had reached") { store in
            _ = try await store.createContainer(try Self.name("jobs"))
            let address = try Self.address("a")
            let first = try await store.upload(address, .resumable(key: "7-out", at: 0))
            try await first.write(Array("kept lost".utf8))
            try await first.synchronize()
            let second = try await store.upload(address, .resumable(key: "7-out", at: 5))
            try await second.write(Array("going on".utf8))
            _ = try await second.commit(.none)
            try require(try await Self.text("a", in: store), is: "kept going on")
        },
        Requirement("A listing is in order of names, by page and prefix") { store in
            let name = try Self.name("jobs")
            _ = try await store.createContainer(name)
            let names = ["a", "b/1", "b/2/x", "b-1", "b.txt", "c"]
            for one in names { try await Self.put(one, one, in: store) }
            let ordered = ["a", "b-1", "b.txt", "b/1", "b/2/x", "c"]
            var found: [String] = []
            var after: String?
            repeat {
                let page = try await store.blobs(BlobQuery(container: name, after: after, limit: 2))
                found += page.blobs.map(\.name.text)
                after = page.hasMore ? page.blobs.last?.name.text : nil
            } while after != nil
            try require(found, is: ordered)
            let below = try await store.blobs(BlobQuery(container: name, prefix: "b/", limit: 9))
            try require(below.blobs.map(\.name.text), is: ["b/1", "b/2/x"])
            let part = try await store.blobs(BlobQuery(container: name, prefix: "b/2", after: "b/1", limit: 9))
            try require(part.blobs.map(\.name.text), is: ["b/2/x"])
            try require(below.hasMore, is: false)
        },
        Requirement("Names are bytes: a combining mark after a slash begins a segment") { store in
            _ = try await store.createContainer(try Self.name("jobs"))
            let names = ["a/\u{301}x", "a/\u{301}/b", "e\u{301}", "\u{E9}"]
            for name in names { try await Self.put(name, name, in: store) }
            for name in names { try require(try await Self.text(name, in: store).utf8.count, is: name.utf8.count) }
            let page = try await store.blobs(BlobQuery(container: try Self.name("jobs"), limit: 9))
            try require(page.blobs.map { Array($0.name.text.utf8) }, is: [1, 0, 2, 3].map { Array(names[$0].utf8) })
            let below = try await store.blobs(BlobQuery(container: try Self.name("jobs"), prefix: "a/", limit: 9))
            try require(below.blobs.count, is: 2)
            try await store.deleteBlob(try Self.address(names[0]))
        },
        Requirement("A blob goes, and its name can then begin another") { store in
            _ = try await store.createContainer(try Self.name("jobs"))
            try await Self.put("a/b/c", "1", in: store)
            try await Self.expect(.nameTaken) { try await Self.put("a/b", "2", in: store) }
            try await Self.expect(.nameTaken) { try await Self.put("a/b/c/d", "2", in: store) }
            try await Self.expect(.noBlob) { try await store.deleteBlob(try Self.address("a/b")) }
            try await store.deleteBlob(try Self.address("a/b/c"))
            try await Self.expect(.noBlob) { try await store.deleteBlob(try Self.address("a/b/c")) }
            try await Self.put("a/b", "2", in: store)
            try require(try await Self.text("a/b", in: store), is: "2")
        },
    ]

    private static func name(_ text: String) throws -> ContainerName { try require(ContainerName(text)) }

    private static func address(_ text: String) throws -> BlobAddress {
        BlobAddress(try name("jobs"), try require(BlobName(text)))
    }

    @discardableResult
    private static func put(
        _ name: String, _ text: String, in store: any ContainerStore, _ condition: BlobCondition = .none
    ) async throws -> Blob {
        let upload = try await store.upload(try address(name), .fresh)
        try await upload.write(Array(text.utf8))
        return try await upload.commit(condition)
    }

    private static func text(_ name: String, in store: any ContainerStore) async throws -> String {
        let content = try await store.openBlob(try address(name))
        return String(decoding: try await content.read(at: 0, count: 1 << 20), as: UTF8.self)
    }

    private static func expect(_ wanted: ContainerError, _ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch let error as ContainerError {
            return try require(error, is: wanted)
        }
        throw ConformanceFailure(description: "nothing was refused, wanted \(wanted)")
    }
}
