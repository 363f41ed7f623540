/// The rate of a notification, and the share of its pushes that may fail.
public struct Rollout: Hashable, Sendable, CustomStringConvertible {
    public enum Pace: Hashable, Sendable {
        /// Pushes per second, on all platforms together.
        case rate(Int)
        /// Evenly over a duration: the audience size, counted at the start, divided by the duration.
        case over(Duration)
    }

    /// The share of failures above which the roll-out halts itself.
    public struct Halt: Hashable, Sendable {
        /// In hundredths of a percent.
        public var share: Int
        /// The number of finished pushes from which the share counts.
        public var answers: Int

        public init(share: Int, answers: Int = Self.commonAnswers) {
            self.share = share
            self.answers = answers
        }

        public static let commonAnswers = 100
        public static let shares = 0..<10_000
        public static let answerLimits = 1...1_000_000

        /// Whether too many pushes have failed.
        public func isPassed(_ counts: SendCounts) -> Bool {
            counts.ended >= answers && counts.failed * 10_000 > counts.ended * share
        }
    }

    public var pace: Pace
    /// nil for no limit.
    public var halt: Halt?

    public init(_ pace: Pace, halt: Halt? = nil) {
        self.pace = pace
        self.halt = halt
    }

    public static let rates = 1...1_000_000
    public static let times: ClosedRange<Duration> = .seconds(1) ... .seconds(28 * 86_400)

    /// Pushes per second.
    /// - Parameter audience: The audience size, needed only for a duration; nil until it is counted. Then the result is
    ///   nil too.
    public func rate(for audience: Int?) -> Double? {
        switch pace {
        case .rate(let rate): Double(rate)
        case .over(let time): audience.map { Double(max($0, 1)) / (time / .seconds(1)) }
        }
    }

    /// The duration of the roll-out, in seconds.
    /// - Parameter pushes: The number of pushes, including retries.
    public func seconds(for pushes: Int) -> Double {
        switch pace {
        case .rate(let rate): Double(pushes) / Double(rate)
        case .over(let time): time / .seconds(1)
        }
    }

    /// In the form of the header, such as `rate=500; halt=5%/100`; durations in seconds.
    public var description: String {
        let pace =
            switch pace {
            case .rate(let rate): "rate=\(rate)"
            case .over(let time): "over=PT\(time.components.seconds)S"
            }
        guard let halt else { return pace }
        return "\(pace); halt=\(Self.percent(halt.share))%/\(halt.answers)"
    }

    private static func percent(_ share: Int) -> String {
        guard share % 100 > 0 else { return "\(share / 100)" }
        let rest = String(share % 100 + 100).dropFirst()
        return "\(share / 100).\(rest.last == "0" ? rest.dropLast() : rest)"
    }
}
