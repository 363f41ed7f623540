import Foundation
import Testing

@testable import MartletCrypto

@Suite(.serialized) struct Argon2idMemoryTests {
    /// malloc keeps an arena for each of several threads, and each arena kept the memory of its largest hash.
    @Test func threadsThatHashAtTheSameTimeGiveTheirMemoryBack() throws {
        let before = try privateMemory()
        let group = DispatchGroup()
        let start = DispatchSemaphore(value: 0)
        for _ in 0..<8 {
            group.enter()
            Thread {
                start.wait()
                for _ in 0..<3 { _ = try? Argon2id.hash([1, 2, 3]) }
                group.leave()
            }.start()
        }
        for _ in 0..<8 { start.signal() }
        group.wait()
        let growth = try privateMemory() - before
        #expect(growth < 40 << 20, "\(growth >> 20) MB more than before the hashes.")
    }

    /// In bytes (proc_pid_smaps(5)).
    private func privateMemory() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)
        return text.split(separator: "\n").filter { $0.hasPrefix("Private_") }
            .compactMap { Int($0.split(separator: " ")[1]) }.reduce(0, +) * 1024
    }
}
