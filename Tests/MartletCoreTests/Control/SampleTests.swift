import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

struct SampleTests {
    private static let key = MessageIDKey(3, 5)

    private func hash(_ seed: UInt64) -> SampleHash {
        Self.key.sampleHash(of: NotificationID(high: seed, low: seed &* 31))
    }

    @Test(arguments: 0..<40)
    func theLowestHashesAreThoseOfASortedList(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let hashes = (0..<Int.random(in: 0...300, using: &random)).map { _ in
            UInt64.random(in: 0...(seed < 20 ? 50 : .max), using: &random)
        }
        let limit = Int.random(in: 1...200, using: &random)
        var lowest = LowestHashes(limit: limit)
        for hash in hashes { lowest.insert(hash) }
        #expect(lowest.seen == hashes.count)
        #expect(lowest.threshold == (hashes.count <= limit ? .max : hashes.sorted()[limit - 1]))
    }

    @Test(arguments: [1, 10, 1000, 5000])
    func aSampleHasExactlySoManyMembers(size: Int) {
        let hash = hash(UInt64(size))
        var lowest = LowestHashes(limit: size)
        for number in 1...Int64(20_000) { lowest.insert(hash(number)) }
        let sample = AudienceSample(hash: hash, threshold: lowest.threshold, side: .sample)
        #expect((1...Int64(20_000)).count(where: sample.contains) == size)
    }

    @Test func theOrderOfCountingDoesNotMatter() {
        let hash = hash(7)
        let numbers = (1...Int64(5000)).map { $0 }
        var random = SeededGenerator(seed: 7)
        let thresholds = [numbers, numbers.reversed(), numbers.shuffled(using: &random)].map { order in
            order.reduce(into: LowestHashes(limit: 100)) { $0.insert(hash($1)) }.threshold
        }
        #expect(Set(thresholds).count == 1)
    }

    @Test func eachMemberIsOnOneSide() {
        let hash = hash(11)
        let sample = AudienceSample(hash: hash, threshold: .max / 3, side: .sample)
        let rest = AudienceSample(hash: hash, threshold: .max / 3, side: .rest)
        #expect((1...Int64(1000)).allSatisfy { sample.contains($0) != rest.contains($0) })
    }

    @Test("A sample has as many of each tenth by age and of each platform, whichever notification it is of")
    func aSampleIsUniform() {
        let count: Int64 = 100_000
        let size = 1000
        for seed in UInt64(1)...3 {
            let hash = hash(seed)
            var lowest = LowestHashes(limit: size)
            for number in 1...count { lowest.insert(hash(number)) }
            let sample = AudienceSample(hash: hash, threshold: lowest.threshold, side: .sample)
            var (tenths, platforms) = (Array(repeating: 0, count: 10), Array(repeating: 0, count: 6))
            for number in 1...count where sample.contains(number) {
                tenths[Int((number - 1) * 10 / count)] += 1
                platforms[Int(number % 6)] += 1
            }
            // Five standard deviations, which are 9.5 and 11.8.
            #expect(tenths.allSatisfy { abs($0 - 100) < 48 }, "\(tenths)")
            #expect(platforms.allSatisfy { abs($0 - 167) < 59 }, "\(platforms)")
        }
    }

    @Test func notificationsHaveDifferentSamples() {
        let (first, second) = (hash(1), hash(2))
        let threshold = SampleHash.threshold(ofShare: 1000)
        let both = (1...Int64(10_000)).count { first($0) <= threshold && second($0) <= threshold }
        #expect((50...150).contains(both), "about a hundredth is in two samples of a tenth: \(both)")
    }

    @Test(arguments: [1, 100, 2500, 5000])
    func aShareIsOfTheRangeOfHashes(share: Int) {
        let hash = hash(UInt64(share))
        let threshold = SampleHash.threshold(ofShare: share)
        let found = (1...Int64(100_000)).count { hash($0) <= threshold }
        let expected = share * 10
        #expect(abs(found - expected) < 5 * Int(Double(expected).squareRoot()) + 5, "\(found)")
    }

    @Test func aSampleIsJudgedAfterATenthOfItsAnswers() {
        let unstated = Rollout.Halt(share: 200, statesAnswers: false)
        #expect([5, 100, 500, 1000, 100_000].map { unstated.ofSample($0).answers } == [10, 10, 50, 100, 100])
        #expect(unstated.ofSample(nil).answers == 100)
        #expect(Rollout.Halt(share: 200, answers: 7).ofSample(1000).answers == 7)
    }
}
