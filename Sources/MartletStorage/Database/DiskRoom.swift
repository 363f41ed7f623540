import Glibc
import MartletCore

/// The room on the disk of the data directory, with a reserve that nothing new is taken into: what was accepted needs it
/// to come to its end.
public final class DiskRoom: Sendable {
    /// What the kernel says of a file system, in bytes.
    public struct Figures: Sendable, Equatable {
        public var free: Int64
        /// Below this nothing new is taken in.
        public var reserve: Int64

        public var isShort: Bool { free < reserve }
    }

    /// The reserve where nothing else is said.
    public static let defaultReserve: Int64 = 64_000_000

    private let ask: @Sendable () -> Figures?
    private let reserve: Locked<Int64>
    private let lifetime: Duration
    private let asked = Locked<(at: ContinuousClock.Instant, figures: Figures?)?>(nil)

    /// - Parameters:
    ///   - lifetime: How long an answer is believed.
    ///   - ask: nil where it cannot be known.
    convenience init(lifetime: Duration, _ ask: @escaping @Sendable () -> Figures?) {
        self.init(lifetime: lifetime, reserve: Locked(0), ask)
    }

    private init(lifetime: Duration, reserve: Locked<Int64>, _ ask: @escaping @Sendable () -> Figures?) {
        self.lifetime = lifetime
        self.reserve = reserve
        self.ask = ask
    }

    /// Asks the kernel, which takes a microsecond, every tenth of a second at most, in which no reserve is written full.
    /// - Parameter reserve: In bytes; of a small file system a twentieth at most.
    convenience init(of path: String, reserve: Int64) {
        let reserve = Locked(reserve)
        self.init(lifetime: .milliseconds(100), reserve: reserve) {
            Self.ask(path, reserve: reserve.withLock { $0 })
        }
    }

    /// Changes the reserve, in bytes, of a room that asks the kernel.
    public func setReserve(_ bytes: Int64) {
        reserve.withLock { $0 = bytes }
    }

    /// What there is now; nil where the kernel does not say.
    public var figures: Figures? {
        let now = ContinuousClock.now
        return asked.withLock { asked in
            if let asked, now - asked.at < lifetime { return asked.figures }
            let figures = ask()
            asked = (now, figures)
            return figures
        }
    }

    /// - Throws: `StorageError` of the kind `.full` where only the reserve is left.
    func check() throws(StorageError) {
        guard let figures, figures.isShort else { return }
        throw StorageError(.full, Self.sentence(figures))
    }

    /// What is wrong, and what to do; nil where nothing is.
    public var shortage: String? {
        figures.flatMap { $0.isShort ? Self.sentence($0) : nil }
    }

    /// The figures of the file system of a path, without a server on it; nil if the kernel does not say.
    /// - Parameter reserve: In bytes; of a small file system a twentieth at most.
    public static func figures(of path: String, reserve: Int64) -> Figures? {
        DiskRoom(of: path, reserve: reserve).figures
    }

    /// What is wrong with these figures, and what to do.
    public static func sentence(_ figures: Figures) -> String {
        "The disk of the data directory has \(figures.free / 1_000_000) MB left, which is less than the reserve of "
            + "\(figures.reserve / 1_000_000) MB for what was accepted: nothing new is taken in. Make room; nothing needs to be "
            + "started anew."
    }

    private static func ask(_ path: String, reserve wanted: Int64) -> Figures? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let block = Int64(clamping: status.f_frsize)
        let size = Int64(clamping: status.f_blocks).multipliedReportingOverflow(by: block)
        let free = Int64(clamping: status.f_bavail).multipliedReportingOverflow(by: block)
        let small = size.overflow ? Int64.max : size.partialValue / 20
        return Figures(free: free.overflow ? .max : free.partialValue, reserve: min(wanted, small))
    }
}
