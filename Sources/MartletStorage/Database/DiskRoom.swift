import Glibc
import MartletCore

/// Reports the free space on the disk of the data directory. A part of the space is reserved for finishing work that
/// has been accepted: if less than this reserve is free, nothing new is accepted.
public final class DiskRoom: Sendable {
    /// The free space and the reserve of a file system, in bytes.
    public struct Figures: Sendable, Equatable {
        public var free: Int64
        /// The reserve: if less than this is free, nothing new is accepted.
        public var reserve: Int64

        public var isShort: Bool { free < reserve }
    }

    /// The default reserve, in bytes.
    public static let defaultReserve: Int64 = 64_000_000

    private let ask: @Sendable () -> Figures?
    private let reserve: Locked<Int64>
    private let lifetime: Duration
    private let asked = Locked<(at: ContinuousClock.Instant, figures: Figures?)?>(nil)

    /// Creates an instance that gets the free space and the reserve from a closure, for tests.
    /// - Parameters:
    ///   - lifetime: How long figures are cached.
    ///   - ask: Returns the figures; nil if they cannot be determined.
    convenience init(lifetime: Duration, _ ask: @escaping @Sendable () -> Figures?) {
        self.init(lifetime: lifetime, reserve: Locked(0), ask)
    }

    private init(lifetime: Duration, reserve: Locked<Int64>, _ ask: @escaping @Sendable () -> Figures?) {
        self.lifetime = lifetime
        self.reserve = reserve
        self.ask = ask
    }

    /// Creates an instance that asks the kernel for the free space of the file system that holds a path. Asking takes a
    /// microsecond. The answer is used for a tenth of a second. In that time, writes cannot use up the reserve.
    /// - Parameter reserve: The wanted reserve in bytes. At most a twentieth of the file system is reserved.
    convenience init(of path: String, reserve: Int64) {
        let reserve = Locked(reserve)
        self.init(lifetime: .milliseconds(100), reserve: reserve) {
            Self.ask(path, reserve: reserve.withLock { $0 })
        }
    }

    /// Changes the reserve of an instance that asks the kernel.
    /// - Parameter bytes: The reserve in bytes.
    public func setReserve(_ bytes: Int64) {
        reserve.withLock { $0 = bytes }
    }

    /// The current figures; nil if the kernel does not report them.
    public var figures: Figures? {
        let now = ContinuousClock.now
        return asked.withLock { asked in
            if let asked, now - asked.at < lifetime { return asked.figures }
            let figures = ask()
            asked = (now, figures)
            return figures
        }
    }

    /// Checks that the reserve is free.
    /// - Throws: `StorageError` of the kind `.full` if less than the reserve is free.
    func check() throws(StorageError) {
        guard let figures, figures.isShort else { return }
        throw StorageError(.full, Self.sentence(figures))
    }

    /// A sentence that describes the shortage and says what to do; nil if there is no shortage.
    public var shortage: String? {
        figures.flatMap { $0.isShort ? Self.sentence($0) : nil }
    }

    /// Returns the free space of the file system that holds a path, and the reserve on it; nil if the kernel does not
    /// report them. Needs no running server.
    /// - Parameter reserve: The wanted reserve in bytes. At most a twentieth of the file system is reserved.
    public static func figures(of path: String, reserve: Int64) -> Figures? {
        DiskRoom(of: path, reserve: reserve).figures
    }

    /// Returns a sentence that says that less than the reserve is free, and what to do.
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
