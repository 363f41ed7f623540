import Foundation
import Synchronization
import Testing

@testable import MartletCrypto

struct Argon2idQueueTests {
    static let cheap = Argon2id.Parameters(memory: 8, iterations: 1, parallelism: 1)

    @Test func hashedPasswordsAreVerified() async throws {
        let queue = Argon2idQueue()
        let hash = try #require(await queue.hash([1, 2, 3], parameters: Self.cheap))
        #expect(await queue.verify([1, 2, 3], against: hash) == true)
        #expect(await queue.verify([1, 2], against: hash) == false)
        #expect(await queue.verify([1], against: "no hash") == false)
    }

    @Test func moreThanItHasRoomForIsRefusedAtOnce() async {
        let queue = Argon2idQueue(threadLimit: 1, waitingLimit: 1)
        let (started, signal) = AsyncStream.makeStream(of: Void.self)
        let held = DispatchSemaphore(value: 0)
        async let working: Int? = queue.perform {
            signal.yield()
            held.wait()
            return 1
        }
        for await _ in started { break }
        let outcomes = await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<3 { group.addTask { await queue.perform { 2 } } }
            // Two of the three find the queue full and come back while the thread is still held.
            var outcomes = [await group.next() ?? nil, await group.next() ?? nil]
            held.signal()
            outcomes.append(await group.next() ?? nil)
            return outcomes
        }
        #expect(outcomes == [nil, nil, 2])
        #expect(await working == 1)
        #expect(await queue.perform { 3 } == 3)
    }

    @Test func aQueueWithoutRoomTakesNothing() async {
        let queue = Argon2idQueue(threadLimit: 0, waitingLimit: 0)
        #expect(await queue.verify([1], against: "") == nil)
    }
}
