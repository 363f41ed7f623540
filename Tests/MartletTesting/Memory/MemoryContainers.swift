public import MartletCore
import MartletModel
import Synchronization

/// Containers in memory, for tests. They meet the same requirements as the real stores (`ContainerConformance`).
public final class MemoryContainers: ContainerStore {
    fileprivate struct Content {
        var blob: Blob
        var bytes: [UInt8]
    }

    fileprivate struct State {
        var containers: [ContainerName: [BlobName: Content]] = [:]
        var blocks: [BlobAddress: [[UInt8]: [UInt8]]] = [:]
        var resumable: [String: [UInt8]] = [:]
        var commits = 0

        mutating func commit(
            _ bytes: [UInt8], at address: BlobAddress, _ condition: BlobCondition
        ) throws(ContainerError) -> Blob {
            guard let blobs = containers[address.container] else { throw .noContainer }
            switch condition {
            case .none: break
            case .absent: if blobs[address.name] != nil { throw .conditionFailed }
            case .entityTag(let tag):
                guard blobs[address.name]?.blob.entityTag == tag else { throw .conditionFailed }
            }
            let name = address.name.text
            if blobs.keys.contains(where: {
                $0.text.utf8.starts(with: (name + "/").utf8) || name.utf8.starts(with: ($0.text + "/").utf8)
            }) {
                throw .nameTaken
            }
            commits += 1
            let blob = Blob(
                name: address.name, size: Int64(bytes.count), modifiedAt: Timestamp(seconds: Int64(commits)),
                entityTag: "\"0x\(commits)\"")
            containers[address.container]?[address.name] = Content(blob: blob, bytes: bytes)
            return blob
        }
    }

    fileprivate let state = Mutex(State())

    public init() {}

    /// The number of resumable uploads that have been neither committed nor abandoned.
    public var unfinishedUploads: Int { state.withLock { $0.resumable.count } }

    public func createContainer(_ name: ContainerName) -> Bool {
        state.withLock { state in
            guard state.containers[name] == nil else { return false }
            state.containers[name] = [:]
            return true
        }
    }

    public func containers() -> [ContainerName] {
        state.withLock { $0.containers.keys.sorted { $0.text < $1.text } }
    }

    public func deleteContainer(_ name: ContainerName) throws(ContainerError) {
        try state.withLock { state throws(ContainerError) in
            guard state.containers.removeValue(forKey: name) != nil else { throw .noContainer }
        }
    }

    public func blobs(_ query: BlobQuery) throws(ContainerError) -> BlobPage {
        guard let blobs = state.withLock({ $0.containers[query.container] }) else { throw .noContainer }
        let found = blobs.values.map(\.blob).sorted { $0.name < $1.name }.filter { blob in
            blob.name.text.utf8.starts(with: query.prefix.utf8)
                && query.after.map { $0.utf8.lexicographicallyPrecedes(blob.name.text.utf8) } ?? true
        }
        return BlobPage(blobs: Array(found.prefix(query.limit)), hasMore: found.count > query.limit)
    }

    public func openBlob(_ address: BlobAddress) throws(ContainerError) -> any BlobContent {
        guard let blobs = state.withLock({ $0.containers[address.container] }) else { throw .noContainer }
        guard let content = blobs[address.name] else { throw .noBlob }
        return MemoryBlob(blob: content.blob, bytes: content.bytes)
    }

    public func upload(_ address: BlobAddress, _ kind: BlobUploadKind) throws(ContainerError) -> any BlobUpload {
        guard state.withLock({ $0.containers[address.container] != nil }) else { throw .noContainer }
        var bytes: [UInt8] = []
        var key: String?
        if case .resumable(let resumed, let offset) = kind {
            bytes = state.withLock { Array(($0.resumable[resumed] ?? []).prefix(Int(offset))) }
            key = resumed
        }
        return MemoryUpload(self, bytes, key: key) { [self] bytes, condition throws(ContainerError) in
            try state.withLock { state throws(ContainerError) in try state.commit(bytes, at: address, condition) }
        }
    }

    public func uploadBlock(_ id: [UInt8], of address: BlobAddress) throws(ContainerError) -> any BlobUpload {
        guard state.withLock({ $0.containers[address.container] != nil }) else { throw .noContainer }
        return MemoryUpload(self, [], key: nil) { [self] bytes, _ in
            state.withLock { $0.blocks[address, default: [:]][id] = bytes }
            return Blob(
                name: address.name, size: Int64(bytes.count), modifiedAt: Timestamp(seconds: 0), entityTag: "\"\"")
        }
    }

    public func commitBlocks(
        _ ids: [[UInt8]], of address: BlobAddress, _ condition: BlobCondition
    ) throws(ContainerError) -> Blob {
        try state.withLock { state throws(ContainerError) in
            var whole: [UInt8] = []
            for id in ids {
                guard let block = state.blocks[address]?[id] else { throw .noBlock }
                whole += block
            }
            let blob = try state.commit(whole, at: address, condition)
            state.blocks[address] = nil
            return blob
        }
    }

    public func deleteBlob(_ address: BlobAddress) throws(ContainerError) {
        try state.withLock { state throws(ContainerError) in
            guard state.containers[address.container] != nil else { throw .noContainer }
            guard state.containers[address.container]?.removeValue(forKey: address.name) != nil else { throw .noBlob }
        }
    }
}

private struct MemoryBlob: BlobContent {
    let blob: Blob
    let bytes: [UInt8]

    func read(at offset: Int64, count: Int) -> [UInt8] {
        Array(bytes.dropFirst(Int(offset)).prefix(count))
    }
}

private final class MemoryUpload: BlobUpload {
    typealias Commit = @Sendable ([UInt8], BlobCondition) throws(ContainerError) -> Blob

    private let store: MemoryContainers
    private let bytes: Mutex<[UInt8]>
    private let key: String?
    private let index: Commit

    init(_ store: MemoryContainers, _ bytes: [UInt8], key: String?, _ index: @escaping Commit) {
        self.store = store
        self.bytes = Mutex(bytes)
        self.key = key
        self.index = index
    }

    func write(_ more: [UInt8]) {
        let all = bytes.withLock { bytes in
            bytes += more
            return bytes
        }
        if let key { store.state.withLock { $0.resumable[key] = all } }
    }

    func synchronize() {}

    func commit(_ condition: BlobCondition) throws(ContainerError) -> Blob {
        let blob = try index(bytes.withLock { $0 }, condition)
        abandon()
        return blob
    }

    func abandon() {
        if let key { store.state.withLock { $0.resumable[key] = nil } }
    }
}
