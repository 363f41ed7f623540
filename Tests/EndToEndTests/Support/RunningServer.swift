import Foundation

/// A real `martlet serve` in a data directory of its own, on ports of its own choosing.
final class RunningServer: Sendable {
    struct NotReady: Error, CustomStringConvertible {
        let description: String
    }

    let dataDirectory: URL
    /// The line it printed when it was ready.
    let readyLine: String
    private let process: ChildProcess

    var processIdentifier: Int32 { process.processIdentifier }

    /// Starts a server and waits until it is ready.
    /// - Parameter options: What follows `serve --data DIR --listen 127.0.0.1:0`.
    /// - Throws: `NotReady` where it ends or says something else first.
    static func start(_ options: [String] = []) async throws -> RunningServer {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
        let pipe = try ChildPipe()
        let process = try ChildProcess(
            BuiltProducts.martlet, ["serve", "--data", directory.path, "--listen", "127.0.0.1:0"] + options,
            standard: (input: nil, output: pipe.writing.fileDescriptor, error: nil))
        try pipe.writing.close()
        let line = await readyLine(of: pipe.reading)
        guard line.hasPrefix("martlet: ready") else {
            process.terminate()
            throw NotReady(description: "`martlet serve` printed \"\(line)\" instead of its ready line.")
        }
        return RunningServer(directory: directory, readyLine: line, process: process)
    }

    private init(directory: URL, readyLine: String, process: ChildProcess) {
        dataDirectory = directory
        self.readyLine = readyLine
        self.process = process
    }

    /// The address it serves with this scheme, "http" or "https", or nil where it does not.
    func address(_ scheme: String) -> URL? {
        readyLine.split(separator: " ").first { $0.hasPrefix(scheme + "://") }.flatMap { URL(string: String($0)) }
    }

    /// Asks it to drain and end, and removes its data.
    /// - Returns: Its exit status.
    func stop() async -> Int32 {
        process.terminate()
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in
                let status = process.waitUntilExit()
                try? FileManager.default.removeItem(at: dataDirectory)
                continuation.resume(returning: status)
            }
        }
    }

    private static func readyLine(of handle: FileHandle) async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var line: [UInt8] = []
                var byte: UInt8 = 0
                while read(handle.fileDescriptor, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
                continuation.resume(returning: String(decoding: line, as: UTF8.self))
            }
        }
    }
}
