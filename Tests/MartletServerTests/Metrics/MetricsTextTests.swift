import MartletCore
import Testing

@testable import MartletServer

struct MetricsTextTests {
    @Test func samplesHaveTheirLabelsEscaped() {
        let family = MetricFamily("x_total", .counter, ["a", "b"], "What it is.")
        var text = MetricsText()
        text.add(family, [(["1\\\"\n", "ü"], 2), (["", "z"], 0.5)])
        #expect(
            text.text == """
                # HELP x_total What it is.
                # TYPE x_total counter
                x_total{a="1\\\\\\"\\n",b="ü"} 2
                x_total{a="",b="z"} 0.5

                """)
    }

    @Test func bucketsAreCumulative() {
        var histogram = Histogram(bounds: [.milliseconds(500), .seconds(1)])
        for milliseconds in [100, 600, 700, 5000] { histogram.add(.milliseconds(milliseconds)) }
        var text = MetricsText()
        text.add(MetricFamily("t_seconds", .histogram, ["p"], "Time."), [(["q"], histogram)])
        #expect(
            text.text == """
                # HELP t_seconds Time.
                # TYPE t_seconds histogram
                t_seconds_bucket{p="q",le="0.5"} 1
                t_seconds_bucket{p="q",le="1"} 3
                t_seconds_bucket{p="q",le="+Inf"} 4
                t_seconds_sum{p="q"} 6.4
                t_seconds_count{p="q"} 4

                """)
    }
}
