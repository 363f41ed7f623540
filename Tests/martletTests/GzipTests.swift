import Glibc
import MartletServer
import Testing

@testable import martlet

@Suite("Compressed files")
struct GzipTests {
    /// Passes bytes through a pipe, which holds 64 KiB.
    private func read(_ compressed: [UInt8]) throws -> [UInt8] {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        try #require(write(ends[1], compressed, compressed.count) == compressed.count)
        close(ends[1])
        let reader = try InputFile(ends[0], name: "devices.gz")
        var bytes: [UInt8] = []
        while case let piece = try reader.read(1 << 16), !piece.isEmpty { bytes += piece }
        return bytes
    }

    @Test("A file compressed in pieces is read again")
    func roundTrip() throws {
        let text = Array(String(repeating: "a line\n", count: 100_000).utf8)
        let writer = try GzipWriter()
        let compressed = writer.compress(text) + writer.compress(text) + writer.compress([], isLast: true)
        #expect(compressed.count < text.count / 100)
        #expect(try read(compressed) == text + text)
    }

    @Test("An uncompressed file is read unchanged")
    func plain() throws {
        #expect(try read(Array("a line\n".utf8)) == Array("a line\n".utf8))
    }

    @Test("A file that ends early is refused")
    func cutShort() throws {
        let compressed = try GzipWriter().compress(Array("a line\n".utf8), isLast: true)
        #expect(throws: ServerError.self) { try read(compressed.dropLast(4)) }
    }
}
