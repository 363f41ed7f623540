import Foundation

/// A program that ran to its end.
struct Finished: Sendable {
    let status: Int32
    /// What it wrote to standard output and standard error.
    let output: String

    /// Runs a program and waits for its end without holding up other tests.
    /// - Throws: `ChildProcess.StartFailure` where the program cannot be started.
    static func running(
        _ executable: URL, _ arguments: [String], environment: [String: String] = [:], in directory: URL? = nil
    ) async throws -> Finished {
        try await withCheckedThrowingContinuation { continuation in
            // Reading to the end blocks, so it has a thread of its own.
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { try run(executable, arguments, environment: environment, in: directory) })
            }
        }
    }

    private static func run(
        _ executable: URL, _ arguments: [String], environment: [String: String], in directory: URL?
    ) throws -> Finished {
        let pipe = try ChildPipe()
        let end = pipe.writing.fileDescriptor
        let process = try ChildProcess(
            executable, arguments, environment: environment, in: directory,
            standard: (input: nil, output: end, error: end))
        try pipe.writing.close()
        let output = try pipe.reading.readToEnd() ?? Data()
        return Finished(status: process.waitUntilExit(), output: String(decoding: output, as: UTF8.self))
    }
}
