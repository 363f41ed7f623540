import Foundation

/// Standard input and output.
enum Console {
    static func show(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    static func complain(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }

    /// What is typed, a line each, until the end of input. Reading blocks, so it has a thread of its own.
    static func lines() -> AsyncStream<String> {
        let (lines, typed) = AsyncStream<String>.makeStream()
        Thread.detachNewThread {
            while let line = readLine() { typed.yield(line) }
            typed.finish()
        }
        return lines
    }
}
