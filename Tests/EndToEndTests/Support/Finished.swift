import Foundation

/// A program that ran to its end.
struct Finished: Sendable {
    let status: Int32
    /// What it wrote to standard output and standard error.
    let output: String

    /// Runs a program and waits for its end without holding up other tests.
    /// - Throws: Foundation's error where the program cannot be started.
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
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        if let directory { process.currentDirectoryURL = directory }
        let pipe = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        try process.runWithSignals()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Finished(status: process.terminationStatus, output: String(decoding: output, as: UTF8.self))
    }
}
