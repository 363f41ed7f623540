import MartletCore
import Testing

struct HistogramTests {
    @Test func aDurationFallsIntoTheFirstBucketThatHoldsIt() {
        var histogram = Histogram(bounds: [.seconds(1), .seconds(2)])
        for milliseconds in [0, 1000, 1001, 2000, 2001, 9000] { histogram.add(.milliseconds(milliseconds)) }
        #expect(histogram.counts == [2, 2, 2])
        #expect(histogram.count == 6)
        #expect(histogram.sum == .milliseconds(15_002))
    }

    @Test func aClockThatWasSetBackTakesNothingAway() {
        var histogram = Histogram(bounds: [.seconds(1)])
        histogram.add(.seconds(3))
        histogram.add(.seconds(-5))
        #expect(histogram.counts == [1, 1])
        #expect(histogram.sum == .seconds(3))
    }

    @Test func boundsOfTheLatencyAscend() {
        #expect(DeliveryMetrics.latencyBounds == DeliveryMetrics.latencyBounds.sorted())
    }
}
