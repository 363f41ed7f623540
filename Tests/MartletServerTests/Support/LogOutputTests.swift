import Glibc
import Testing

@testable import MartletServer

/// A pipe with a log at one end.
@Suite struct LogOutputTests {
    private let reader: Int32
    private let writer: Int32
    private let output: LogOutput

    init() {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        (reader, writer) = (ends[0], ends[1])
        output = LogOutput(writer)
    }

    private func write(_ line: String) {
        output.write(Array("\(line)\n".utf8)) { Array("left out: \($0)\n".utf8) }
    }

    /// Closes the log's end and returns what is in the pipe.
    private func rest() -> String {
        close(writer)
        var bytes = read()
        while case let more = read(), !more.isEmpty { bytes += more }
        close(reader)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func read() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        let count = Glibc.read(reader, &buffer, buffer.count)
        return Array(buffer.prefix(max(0, count)))
    }

    @Test func aReaderThatDoesNotReadDelaysNobodyAndLearnsWhatIsMissing() {
        let line = String(repeating: "x", count: 1000)
        for _ in 0..<1000 { write(line) }
        let first = read()
        write("after")
        let lines = (String(decoding: first, as: UTF8.self) + rest()).split(separator: "\n")
        let complete = lines.prefix { $0 == line }
        #expect((60...66).contains(complete.count))
        #expect(lines.dropFirst(complete.count) == ["left out: \(1000 - complete.count)", "after"])
    }

    @Test func aLongLineThatIsCutDoesNotRunIntoTheNext() {
        let line = String(repeating: "y", count: 100_000)
        write(line)
        write("left out")
        let first = read()
        write("after")
        let lines = (String(decoding: first, as: UTF8.self) + rest()).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(line.hasPrefix(lines[0]) && lines[0].count >= 4096)
        #expect(lines.dropFirst() == ["left out: 1", "after"])
    }

    @Test func aReaderThatHasGoneIsNoReasonToStop() {
        signal(SIGPIPE, SIG_IGN)
        close(reader)
        write("a")
        write("b")
        close(writer)
    }
}
