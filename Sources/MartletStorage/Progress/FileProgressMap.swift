import Glibc
import MartletCore
import Synchronization

/// A progress map with one bit per member, in a file that is mapped into memory. Bits that were set stay in the file
/// even if the process is killed.
///
/// Unchecked: the words and `allocated` are only accessed atomically, and the other properties never change.
final class FileProgressMap: ProgressMap, @unchecked Sendable {
    private let words: UnsafeMutablePointer<Atomic<UInt64>>
    private let byteCount: Int
    private let descriptor: Int32
    /// For each page of the file: 1 if its disk space is known to be allocated, otherwise 0. Writing to an unallocated
    /// page on a full disk would crash the process; on some file systems reading such a page would crash it too.
    private let allocated: UnsafeMutablePointer<Atomic<UInt8>>
    /// The numbers of delivered members whose bits cannot be set, because their page of the file has no disk space.
    /// These numbers are lost when the process ends.
    private let homeless = Locked<Set<Int64>>([])
    /// False while `homeless` is empty, which is always the case unless the disk is full. While false, no lock is
    /// needed.
    private let hasHomeless = Atomic<Bool>(false)
    /// Called with this map when, for the first time, a member cannot be written to disk. The map must then be kept in
    /// memory.
    private let keep: @Sendable (FileProgressMap) -> Void
    private let allocate: Allocation

    /// Allocates disk space for a range of a file, as posix_fallocate(3) does.
    typealias Allocation = @Sendable (_ descriptor: Int32, _ start: off_t, _ count: off_t) -> Int32

    private static let pageSize = 4096
    private static let pageWords = pageSize / 8
    /// SEEK_DATA of lseek(2), which the Glibc module does not define.
    private static let seekData: Int32 = 3

    /// Opens the file of a progress map, and creates the file if it does not exist.
    /// - Parameter lastNumber: The highest member number that the map must be able to hold.
    init(
        _ path: String, through lastNumber: Int64, allocate: @escaping Allocation = { posix_fallocate($0, $1, $2) },
        keep: @escaping @Sendable (FileProgressMap) -> Void = { _ in }
    ) throws(StorageError) {
        self.keep = keep
        self.allocate = allocate
        let pages = Int(lastNumber) / 8 / Self.pageSize + 1
        byteCount = pages * Self.pageSize
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw StorageError(failed: "open", path) }
        guard ftruncate(descriptor, off_t(byteCount)) == 0 else {
            let error = StorageError(failed: "size", path)
            close(descriptor)
            throw error
        }
        let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let memory, memory != MAP_FAILED else {
            let error = StorageError(failed: "map", path)
            close(descriptor)
            throw error
        }
        words = memory.bindMemory(to: Atomic<UInt64>.self, capacity: byteCount / 8)
        allocated = .allocate(capacity: pages)
        for page in 0..<pages { (allocated + page).initialize(to: Atomic(0)) }
    }

    deinit {
        munmap(words, byteCount)
        close(descriptor)
        allocated.deallocate()
    }

    func holds(_ number: Int64) -> Bool {
        number >= 0 && number / 8 < Int64(byteCount)
    }

    func contains(_ member: AudienceMember) -> Bool {
        let number = member.number
        guard holds(number) else { return false }
        if isSet(number) { return true }
        return hasHomeless.load(ordering: .acquiring) && homeless.withLock { $0.contains(number) }
    }

    func insert(_ member: AudienceMember) {
        let number = member.number
        guard holds(number) else { return }
        let (word, bit) = index(of: number)
        guard isWritable(page: word / Self.pageWords) else {
            let isFirst = homeless.withLock { homeless in
                homeless.insert(number)
                return homeless.count == 1
            }
            hasHomeless.store(true, ordering: .releasing)
            if isFirst { keep(self) }
            return
        }
        words[word].bitwiseOr(bit, ordering: .relaxed)
    }

    var blocks: [DeliveredBitmap] {
        guard homelessNumbers.isEmpty else { return DeliveredBitmap.blocks(of: numbers) }
        return stride(from: 0, to: byteCount / 8, by: DeliveredBitmap.wordCount).compactMap {
            block(at: $0 / DeliveredBitmap.wordCount)
        }
    }

    func blocks(at indices: [Int64]) -> [DeliveredBitmap] {
        guard homelessNumbers.isEmpty else {
            let all = DeliveredBitmap.blocks(of: numbers)
            return indices.compactMap { index in all.first { $0.index == index } }
        }
        return indices.filter { holds($0 * DeliveredBitmap.size) }.compactMap { block(at: Int($0)) }
    }

    /// Returns the members of a block that are in the file; nil if there are none.
    private func block(at index: Int) -> DeliveredBitmap? {
        let first = index * DeliveredBitmap.wordCount
        let end = min(first + DeliveredBitmap.wordCount, byteCount / 8)
        var block = [UInt64](repeating: 0, count: DeliveredBitmap.wordCount)
        for start in stride(from: first, to: end, by: Self.pageWords) where isPresent(page: start / Self.pageWords) {
            for word in start..<min(start + Self.pageWords, end) {
                block[word - first] = words[word].load(ordering: .relaxed)
            }
        }
        return DeliveredBitmap(index: Int64(index), words: block)
    }

    /// The numbers of all members in the map. This is slow for large maps.
    var numbers: Set<Int64> { homelessNumbers.union(numbersInFile) }

    private var homelessNumbers: Set<Int64> {
        hasHomeless.load(ordering: .acquiring) ? homeless.withLock(\.self) : []
    }

    private var numbersInFile: [Int64] {
        (0..<byteCount / Self.pageSize).filter(isPresent).flatMap { page in
            let first = Int64(page * Self.pageSize * 8)
            return (first..<first + Int64(Self.pageSize * 8)).filter { number in
                let (word, bit) = index(of: number)
                return words[word].load(ordering: .relaxed) & bit != 0
            }
        }
    }

    private func isSet(_ number: Int64) -> Bool {
        let (word, bit) = index(of: number)
        let page = word / Self.pageWords
        guard isWritable(page: page) || isPresent(page: page) else { return false }
        return words[word].load(ordering: .relaxed) & bit != 0
    }

    private func index(of number: Int64) -> (word: Int, bit: UInt64) {
        (Int(number) / 64, 1 << (UInt64(number) & 63))
    }

    /// Returns whether a page has disk space, allocated by this map or by another user of the file. A page without disk
    /// space has no bits set.
    private func isPresent(page: Int) -> Bool {
        if allocated[page].load(ordering: .relaxed) == 1 { return true }
        let start = off_t(page * Self.pageSize)
        guard (start..<start + off_t(Self.pageSize)).contains(lseek(descriptor, start, Self.seekData)) else {
            return false
        }
        allocated[page].store(1, ordering: .relaxed)
        return true
    }

    /// Allocates disk space for a page if needed. If two threads do this at the same time, both allocate, which is
    /// harmless.
    private func isWritable(page: Int) -> Bool {
        if allocated[page].load(ordering: .relaxed) == 1 { return true }
        let start = off_t(page * Self.pageSize)
        guard allocate(descriptor, start, off_t(Self.pageSize)) == 0 else { return false }
        allocated[page].store(1, ordering: .relaxed)
        return true
    }
}
