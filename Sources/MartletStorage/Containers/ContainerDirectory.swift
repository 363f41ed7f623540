import Glibc
import MartletCore
import MartletModel

/// Stores each container as a directory, and each blob as a file whose path is the blob's name. A file that is being
/// written has a temporary name in a separate directory, until it is renamed to its final path. All calls block, so
/// they are made on a `FileThread`. Calls that change which containers and blobs exist are all made on the same
/// `FileThread`.
struct ContainerDirectory: Sendable {
    /// The directory for blobs that are being written, and for containers that are being removed.
    private static let uploads = "uploads"
    private static let blocks = "blocks"
    private static let containers = "containers"
    /// The name of the directory for the blocks of a blob. No segment of a blob's name can be equal to it.
    private static let ofBlob = "..."

    private let root: String

    /// Makes the directories for blobs, blocks and uploads if they are missing.
    /// - Parameter root: An existing private directory.
    init(_ root: String) throws(StorageError) {
        self.root = root
        for name in [Self.containers, Self.uploads, Self.blocks] {
            guard mkdir("\(root)/\(name)", 0o700) == 0 || errno == EEXIST else {
                throw StorageError(failed: "make", "\(root)/\(name)")
            }
            try StorageDirectory.checkOwn("\(root)/\(name)")
        }
    }

    func path(of name: ContainerName) -> String { "\(root)/\(Self.containers)/\(name)" }

    func path(of address: BlobAddress) -> String { "\(path(of: address.container))/\(address.name)" }

    func path(ofUpload name: String) -> String { "\(root)/\(Self.uploads)/\(name)" }

    func path(ofBlock id: [UInt8], of address: BlobAddress) -> String {
        let digits = id.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return "\(path(ofBlocksOf: address))/\(digits)"
    }

    private func path(ofBlocksOf address: BlobAddress) -> String {
        "\(root)/\(Self.blocks)/\(address.container)/\(address.name)/\(Self.ofBlob)"
    }

    // MARK: Containers

    func create(_ name: ContainerName) throws(ContainerError) -> Bool {
        guard mkdir(path(of: name), 0o700) == 0 else {
            if errno == EEXIST { return false }
            throw .failed("make", path(of: name))
        }
        try synchronize("\(root)/\(Self.containers)")
        return true
    }

    func names() throws(ContainerError) -> [ContainerName] {
        try entries("\(root)/\(Self.containers)").compactMap { ContainerName($0.name) }.sorted { $0.text < $1.text }
    }

    func remove(_ name: ContainerName, as upload: String) throws(ContainerError) {
        let index = path(ofUpload: upload)
        guard rename(path(of: name), index) == 0 else {
            throw errno == ENOENT ? .noContainer : .failed("remove", path(of: name))
        }
        try synchronize("\(root)/\(Self.containers)")
        removeAll(index)
        removeAll("\(root)/\(Self.blocks)/\(name)")
    }

    func exists(_ name: ContainerName) -> Bool { access(path(of: name), F_OK) == 0 }

    // MARK: Blobs

    /// Moves a complete file, whose content is already on disk, to the path of its blob.
    func index(
        _ file: OpenFile, at address: BlobAddress, _ condition: BlobCondition
    ) throws(ContainerError) -> Blob {
        guard exists(address.container) else { throw .noContainer }
        try check(condition, at: address)
        let directory = try makeDirectories(
            Array(address.name.segments.dropLast()), below: path(of: address.container))
        try file.move(to: path(of: address))
        try synchronize(directory)
        return Blob(address.name, try file.status())
    }

    private func check(_ condition: BlobCondition, at address: BlobAddress) throws(ContainerError) {
        guard condition != .none else { return }
        var status = stat()
        let isThere = lstat(path(of: address), &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        switch condition {
        case .none: break
        case .absent: if isThere { throw .conditionFailed }
        case .entityTag(let tag):
            guard isThere, Blob(address.name, status).entityTag == tag else { throw .conditionFailed }
        }
    }

    /// Moves a file to the path of its block. The directory is not flushed to disk: a block may be lost in a power
    /// failure, because only committed blobs are promised to survive.
    func index(_ file: OpenFile, asBlock id: [UInt8], of address: BlobAddress) throws(ContainerError) -> Blob {
        guard exists(address.container) else { throw .noContainer }
        let segments = [Substring(address.container.text)] + address.name.segments + [Substring(Self.ofBlob)]
        _ = try makeDirectories(segments, below: "\(root)/\(Self.blocks)")
        try file.move(to: path(ofBlock: id, of: address))
        return Blob(address.name, try file.status())
    }

    /// Returns the total size in bytes of the blocks in a list. A block that is listed twice counts twice.
    /// - Throws: `.noBlock` if a block does not exist.
    func size(ofBlocks ids: [[UInt8]], of address: BlobAddress) throws(ContainerError) -> Int64 {
        // Maps block ids to sizes, so that each block is looked up once: a list may contain the same block thousands of
        // times.
        var sizes: [[UInt8]: Int64] = [:]
        var sum: Int64 = 0
        for id in ids {
            if let size = sizes[id] {
                sum += size
                continue
            }
            var status = stat()
            guard lstat(path(ofBlock: id, of: address), &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                throw .noBlock
            }
            sizes[id] = Int64(status.st_size)
            sum += Int64(status.st_size)
        }
        return sum
    }

    func remove(_ address: BlobAddress) throws(ContainerError) {
        guard exists(address.container) else { throw .noContainer }
        guard unlink(path(of: address)) == 0 else {
            throw [ENOENT, ENOTDIR, EISDIR].contains(errno) ? .noBlob : .failed("remove", path(of: address))
        }
        try synchronize(removeEmptyDirectories(of: address, below: path(of: address.container)))
    }

    func removeBlocks(of address: BlobAddress) {
        removeAll(path(ofBlocksOf: address))
        let base = "\(root)/\(Self.blocks)/\(address.container)"
        rmdir("\(base)/\(address.name)")
        _ = removeEmptyDirectories(of: address, below: base)
    }

    /// Removes the empty directories on the path of a blob, beginning with the deepest one.
    /// - Returns: The deepest directory that is left.
    private func removeEmptyDirectories(of address: BlobAddress, below base: String) -> String {
        var segments = address.name.segments.dropLast()
        while !segments.isEmpty {
            let path = "\(base)/\(segments.joined(separator: "/"))"
            guard rmdir(path) == 0 || errno == ENOENT else { return path }
            segments = segments.dropLast()
        }
        return base
    }

    /// Makes each directory of a path that is missing.
    /// - Returns: The path of the deepest directory.
    private func makeDirectories(_ segments: [Substring], below base: String) throws(ContainerError) -> String {
        var path = base
        for segment in segments {
            let parent = path
            path += "/\(segment)"
            if mkdir(path, 0o700) == 0 {
                try synchronize(parent)
                continue
            }
            guard errno == EEXIST else { throw errno == ENOTDIR ? .nameTaken : .failed("make", path) }
        }
        return path
    }

    // MARK: Listing

    func page(_ query: BlobQuery) throws(ContainerError) -> BlobPage {
        guard exists(query.container) else { throw .noContainer }
        var page = BlobPage(blobs: [], hasMore: false)
        try collect(path(of: query.container), "", query, into: &page)
        return page
    }

    /// Collects the blobs of a directory and its subdirectories, sorted by their full names. For this order, the
    /// entries of a directory are sorted with a slash after the name of each subdirectory.
    private func collect(
        _ path: String, _ above: String, _ query: BlobQuery, into page: inout BlobPage
    ) throws(ContainerError) {
        let entries = try entries(path).map { (entry: $0, name: above + $0.name + ($0.isDirectory ? "/" : "")) }
        for (entry, name) in entries.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            guard !page.hasMore else { return }
            if entry.isDirectory {
                guard query.mayHoldBlobs(name) else { continue }
                try collect("\(path)/\(entry.name)", name, query, into: &page)
            } else if query.shows(name), let blobName = BlobName(name) {
                var status = stat()
                guard lstat("\(path)/\(entry.name)", &status) == 0 else { continue }
                if page.blobs.count < query.limit {
                    page.blobs.append(Blob(blobName, status))
                } else {
                    page.hasMore = true
                }
            }
        }
    }

    private func entries(_ path: String) throws(ContainerError) -> [(name: String, isDirectory: Bool)] {
        guard let directory = opendir(path) else { throw .failed("list", path) }
        defer { closedir(directory) }
        var entries: [(name: String, isDirectory: Bool)] = []
        while let entry = readdir(directory) {
            let name = Self.name(of: entry)
            if name != "." && name != ".." { entries.append((name, Int(entry.pointee.d_type) == Int(DT_DIR))) }
        }
        return entries
    }

    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
        withUnsafePointer(to: &entry.pointee.d_name) { pointer in
            pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
    }

    // MARK: Cleaning up

    /// Removes files that are no longer needed: uploads that were still being written and containers that were still
    /// being removed when an earlier process ended, and blocks and resumable uploads that have not changed since a
    /// given time.
    func clean(before timestamp: Timestamp) throws(ContainerError) {
        for entry in try entries("\(root)/\(Self.uploads)") {
            let path = path(ofUpload: entry.name)
            if !entry.name.hasPrefix(UploadName.resumablePrefix) || isOlder(path, than: timestamp) { removeAll(path) }
        }
        for entry in try entries("\(root)/\(Self.blocks)") {
            removeOld("\(root)/\(Self.blocks)/\(entry.name)", timestamp)
        }
    }

    /// Removes the files of a container for which `isWanted` returns false. Reads the directory one entry at a time,
    /// because a container may have any number of files.
    func keepFiles(of name: ContainerName, where isWanted: (String) throws(StorageError) -> Bool) throws(StorageError) {
        let path = path(of: name)
        guard let directory = opendir(path) else { throw StorageError(failed: "list", path) }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            guard Int(entry.pointee.d_type) == Int(DT_REG) else { continue }
            let file = Self.name(of: entry)
            if try !isWanted(file) { unlink("\(path)/\(file)") }
        }
    }

    private func removeOld(_ path: String, _ timestamp: Timestamp) {
        guard let entries = try? entries(path) else { return }
        for entry in entries {
            let child = "\(path)/\(entry.name)"
            if entry.isDirectory {
                removeOld(child, timestamp)
                rmdir(child)
            } else if isOlder(child, than: timestamp) {
                unlink(child)
            }
        }
    }

    private func isOlder(_ path: String, than timestamp: Timestamp) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && Int64(status.st_mtim.tv_sec) < timestamp.seconds
    }

    private func removeAll(_ path: String) {
        guard unlink(path) != 0, let entries = try? entries(path) else { return }
        for entry in entries { removeAll("\(path)/\(entry.name)") }
        rmdir(path)
    }

    private func synchronize(_ path: String) throws(ContainerError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failed("open", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .failed("synchronize", path) }
    }
}

extension BlobQuery {
    fileprivate func shows(_ name: String) -> Bool {
        guard name.utf8.starts(with: prefix.utf8) else { return false }
        return after.map { $0.utf8.lexicographicallyPrecedes(name.utf8) } ?? true
    }

    /// Returns true if the listing may contain blobs of a directory.
    /// - Parameter name: The directory's name, which ends with a slash and begins the names of its blobs.
    fileprivate func mayHoldBlobs(_ name: String) -> Bool {
        guard name.utf8.starts(with: prefix.utf8) || prefix.utf8.starts(with: name.utf8) else { return false }
        return after.map { $0.utf8.starts(with: name.utf8) || $0.utf8.lexicographicallyPrecedes(name.utf8) } ?? true
    }
}

extension Blob {
    /// Describes a file as a blob. Its entity tag changes when another file gets the name, and when the file is written
    /// to.
    init(_ name: BlobName, _ status: stat) {
        let nanoseconds = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
        let tag = [UInt64(bitPattern: nanoseconds), UInt64(status.st_ino)].map {
            String($0, radix: 16, uppercase: true)
        }
        self.init(
            name: name, size: Int64(status.st_size), modifiedAt: Timestamp(milliseconds: nanoseconds / 1_000_000),
            entityTag: "\"0x\(tag[0])\(tag[1])\"")
    }
}
