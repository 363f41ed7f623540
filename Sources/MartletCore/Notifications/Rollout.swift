/// The rate of a notification, and the maximum share of its pushes that may fail.
public struct Rollout: Hashable, Sendable, CustomStringConvertible {
    public enum Pace: Hashable, Sendable {
        /// The number of pushes per second, over all platforms together.
        case rate(Int)
        /// Sends evenly over a duration: the rate is the audience size, counted at the start, divided by the duration.
        case over(Duration)
    }

    /// The share of failed pushes above which the roll-out halts itself.
    public struct Halt: Hashable, Sendable {
        /// The share, in hundredths of a percent.
        public var share: Int
        /// The minimum number of finished pushes; below it, the share is ignored.
        public var answers: Int

        public init(share: Int, answers: Int = Self.commonAnswers) {
            self.share = share
            self.answers = answers
        }

        public static let commonAnswers = 100
        public static let shares = 0..<10_000
        public static let answerLimits = 1...1_000_000

        /// Whether too many pushes have failed, so that the roll-out must halt.
        public func isPassed(_ counts: SendCounts) -> Bool {
            counts.ended >= answers && counts.failed * 10_000 > counts.ended * share
        }
    }

    public var pace: Pace
    /// When the roll-out halts itself; nil if it never does.
    public var halt: Halt?

    public init(_ pace: Pace, halt: Halt? = nil) {
        self.pace = pace
        self.halt = halt
    }

    public static let rates = 1...1_000_000
    public static let times: ClosedRange<Duration> = .seconds(1) ... .seconds(28 * 86_400)

    /// Returns the rate in pushes per second.
    /// - Parameter audience: The audience size, needed only if the pace is a duration; nil until it is counted, and
    ///   then the result is nil too.
    public func rate(for audience: Int?) -> Double? {
        switch pace {
        case .rate(let rate): Double(rate)
        case .over(let time): audience.map { Double(max($0, 1)) / (time / .seconds(1)) }
        }
    }

    /// Returns the duration of the roll-out, in seconds.
    /// - Parameter pushes: The number of pushes, including retries.
    public func seconds(for pushes: Int) -> Double {
        switch pace {
        case .rate(let rate): Double(pushes) / Double(rate)
        case .over(let time): time / .seconds(1)
        }
    }

    /// The value of the header, such as `rate=500; halt=5%/100`; durations are in seconds.
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
