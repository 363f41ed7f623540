import Testing

/// Random accepts, retries and kills against two invariants: what reaches a device under a key is never older than what
/// has reached it, and in the end every device has the newest that it is in the audience of.
struct CollapseOrderTests {
    @Test(.timeLimit(.minutes(10)), arguments: UInt64(1)...16)
    func nothingOlderArrivesBehindTheNewer(seed: UInt64) async throws {
        let run = try await CollapseCourse(seed: seed)
        for _ in 0..<80 { try await run.step() }
        try await run.finish()
        #expect(run.service.setbacks == [])
        #expect(run.missing == [])
        run.service.close()
    }
}
