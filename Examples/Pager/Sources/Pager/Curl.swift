import Foundation

/// Answers of a server, read by the program curl.
enum Curl {
    /// The lines of an answer as they come; a task that is cancelled while it reads them ends the request. Reading blocks, so it has a thread of its own.
    static func lines(of url: String, _ arguments: [String]) throws -> AsyncStream<String> {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        process.arguments = ["--silent", "--show-error"] + arguments + [url]
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        let (lines, found) = AsyncStream<String>.makeStream()
        Thread.detachNewThread {
            var rest = Data()
            while case let piece = output.fileHandleForReading.availableData, !piece.isEmpty {
                rest += piece
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    found.yield(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
                    rest = rest[(end + 1)...]
                }
            }
            if !rest.isEmpty { found.yield(String(decoding: rest, as: UTF8.self)) }
            found.finish()
        }
        let id = process.processIdentifier
        found.onTermination = { reason in
            if case .cancelled = reason { kill(id, SIGTERM) }
        }
        return lines
    }
}
