import Glibc
import Synchronization

/// Writes log lines to a file descriptor.
///
/// If nobody reads from the descriptor, a line waits no longer than `patience`. Further lines are left out and counted.
final class LogOutput: Sendable {
    /// Standard error. All logs of the process share it.
    static let standardError = LogOutput(STDERR_FILENO)

    /// How long a line waits for the reader, in milliseconds.
    ///
    /// If the reader did not take the previous line within this time, the next line does not wait at all.
    private static let patience: Int32 = 100
    /// The size of the pieces in which lines are written, in bytes. A pipe that is ready for writing takes this many
    /// bytes without waiting (POSIX: at least 512; Linux: pipe(7)).
    private static let pieceSize = 4096

    private struct State {
        var isStuck = false
        /// Whether the last line was written only in part. The next line then begins with a line end.
        var isCut = false
        var leftOut = 0
    }

    private let descriptor: Int32
    private let state = Mutex(State())

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Writes a line. Errors are ignored: the server keeps working if the log cannot be written.
    /// - Parameters:
    ///   - line: A line, including the line end.
    ///   - notice: Returns a line, including the line end, that says how many lines were left out.
    func write(_ line: [UInt8], notice: (Int) -> [UInt8]) {
        state.withLock { state in
            guard takesMore(&state) else {
                state.leftOut += 1
                return
            }
            let wasCut = state.isCut
            var bytes = wasCut ? [UInt8(ascii: "\n")] : []
            if state.leftOut > 0 { bytes += notice(state.leftOut) }
            state.leftOut = 0
            bytes += line
            // A line is written with a single call if possible, so that lines of other processes are not mixed into it.
            var rest = bytes[...]
            repeat {
                let count = rest.prefix(Self.pieceSize).withUnsafeBytes {
                    Glibc.write(descriptor, $0.baseAddress, $0.count)
                }
                guard count > 0 else { break }
                rest = rest.dropFirst(count)
            } while !rest.isEmpty && takesMore(&state)
            state.isCut = rest.count == bytes.count ? wasCut : !rest.isEmpty
        }
    }

    private func takesMore(_ state: inout State) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        state.isStuck = Glibc.poll(&poll, 1, state.isStuck ? 0 : Self.patience) == 0
        return !state.isStuck
    }
}
