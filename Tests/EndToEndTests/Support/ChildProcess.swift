import CMartletProcess
import Foundation
import Synchronization

/// A program that runs beside the tests.
///
/// Foundation's `Process` of Swift 6.3 is not used: where many descriptors are open it sometimes reads beyond the end of
/// a buffer and crashes (swift-corelibs-foundation, pull request 5472).
final class ChildProcess: Sendable {
    struct StartFailure: Error, CustomStringConvertible {
        let description: String
    }

    let processIdentifier: pid_t
    /// The exit status, once the process has been waited for. Its id may belong to another process from then on.
    private let status = Mutex<Int32?>(nil)

    /// Starts a program with no signal blocked: the threads that tests run on block most signals and a program inherits
    /// that, so that it would never see a SIGTERM. It has no descriptors but its standard ones.
    /// - Parameters:
    ///   - environment: Variables in addition to those of the tests.
    ///   - standard: Its standard input, output and error; nil for `/dev/null`.
    /// - Throws: `StartFailure` with the reason of the system.
    init(
        _ executable: URL, _ arguments: [String], environment: [String: String] = [:], in directory: URL? = nil,
        standard: (input: Int32?, output: Int32?, error: Int32?)
    ) throws {
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }
        let argv = ([executable.path] + arguments).map { strdup($0) } + [nil]
        let envp = variables.map { strdup($0) } + [nil]
        defer { for text in argv + envp { free(text) } }
        var id: pid_t = 0
        let code = martlet_spawn(
            &id, executable.path, argv, envp, directory?.path,
            [standard.input ?? -1, standard.output ?? -1, standard.error ?? -1])
        guard code == 0 else {
            throw StartFailure(description: "\(executable.path): \(String(cString: strerror(code)))")
        }
        processIdentifier = id
    }

    /// Sends SIGTERM, unless the process has been waited for.
    func terminate() {
        status.withLock { if $0 == nil { kill(processIdentifier, SIGTERM) } }
    }

    /// Waits for the end of the process; it blocks its thread.
    /// - Returns: The exit status, or the number of the signal that ended it.
    @discardableResult func waitUntilExit() -> Int32 {
        // The lock is taken only once the process has ended, so that `terminate` never waits for it.
        var information = siginfo_t()
        while waitid(P_PID, id_t(processIdentifier), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
        return status.withLock { known in
            if let known { return known }
            var value: Int32 = 0
            while waitpid(processIdentifier, &value, 0) == -1, errno == EINTR {}
            let signal = value & 0x7f
            let ended = signal == 0 ? (value >> 8) & 0xff : signal
            known = ended
            return ended
        }
    }
}

/// A pipe whose ends no program inherits unless it is given one.
struct ChildPipe {
    let reading: FileHandle
    let writing: FileHandle

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard martlet_pipe(&ends) == 0 else {
            throw ChildProcess.StartFailure(description: "No pipe: \(String(cString: strerror(errno)))")
        }
        reading = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        writing = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
    }
}
