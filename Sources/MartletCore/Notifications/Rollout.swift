/// The rate of a notification, the sample that gets it first, and the maximum share of its pushes that may fail.
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
        /// Whether the sender has stated `answers`. If not, a lower number applies to a sample (`ofSample`).
        public var statesAnswers: Bool

        public init(share: Int, answers: Int = Self.commonAnswers, statesAnswers: Bool = true) {
            self.share = share
            self.answers = answers
            self.statesAnswers = statesAnswers
        }

        /// Returns the rule that applies while a sample is sent. If the sender has not stated a number of answers, the
        /// rule takes effect once a tenth of the sample has answers, but never before 10 answers, and at the latest
        /// after 100.
        /// - Parameter size: The size of the sample; nil if it is not known.
        public func ofSample(_ size: Int?) -> Halt {
            guard !statesAnswers, let size else { return self }
            var halt = self
            halt.answers = min(max(size / 10, Self.leastAnswers), answers)
            return halt
        }

        static let leastAnswers = 10

        public static let commonAnswers = 100
        public static let shares = 0..<10_000
        public static let answerLimits = 1...1_000_000

        /// Returns whether too many pushes have failed, so that the roll-out must halt.
        public func isPassed(_ counts: SendCounts) -> Bool {
            counts.ended >= answers && counts.failed * 10_000 > counts.ended * share
        }
    }

    /// The devices that get the notification before all others.
    public enum Sample: Hashable, Sendable {
        /// Exactly this number of devices.
        case size(Int)
        /// A share of the audience, in hundredths of a percent. The exact number of devices is random.
        case share(Int)

        public static let sizes = 1...100_000
        public static let shares = 1...5_000
    }

    /// The rate of the notification, or in a canary the rate of the rest; nil to send as fast as possible.
    public var pace: Pace?
    /// When the roll-out halts itself; nil if it never does.
    public var halt: Halt?
    /// The sample of a canary; nil if the notification is no canary.
    public var sample: Sample?
    /// How long a canary holds, after its sample was sent, before it continues by itself; nil if it holds until it is
    /// resumed.
    public var wait: Duration?

    public init(_ pace: Pace?, halt: Halt? = nil, sample: Sample? = nil, wait: Duration? = nil) {
        self.pace = pace
        self.halt = halt
        self.sample = sample
        self.wait = wait
    }

    public static let waits: ClosedRange<Duration> = .seconds(60) ... .seconds(7 * 86_400)

    public static let rates = 1...1_000_000
    public static let times: ClosedRange<Duration> = .seconds(1) ... .seconds(28 * 86_400)

    /// Returns the rate in pushes per second; nil if the roll-out has no pace.
    /// - Parameter audience: The audience size; nil if it has not been counted yet. Needed only if the pace is a
    ///   duration: without the size, the result is then nil.
    public func rate(for audience: Int?) -> Double? {
        switch pace {
        case nil: nil
        case .rate(let rate): Double(rate)
        case .over(let time): audience.map { Double(max($0, 1)) / (time / .seconds(1)) }
        }
    }

    /// Returns the duration of the roll-out in seconds; 0 if it has no pace.
    /// - Parameter pushes: The number of pushes, including retries.
    public func seconds(for pushes: Int) -> Double {
        switch pace {
        case nil: 0
        case .rate(let rate): Double(pushes) / Double(rate)
        case .over(let time): time / .seconds(1)
        }
    }

    /// The roll-out as the value of its header field, such as `first=1000; wait=PT600S; rate=500; halt=5%/100`;
    /// durations are in seconds.
    public var description: String {
        var parts: [String] = []
        switch sample {
        case .size(let size): parts.append("first=\(size)")
        case .share(let share): parts.append("first=\(Self.percent(share))%")
        case nil: break
        }
        if let wait { parts.append("wait=PT\(wait.components.seconds)S") }
        switch pace {
        case .rate(let rate): parts.append("rate=\(rate)")
        case .over(let time): parts.append("over=PT\(time.components.seconds)S")
        case nil: break
        }
        if let halt {
            let answers = halt.statesAnswers || sample == nil ? "/\(halt.answers)" : ""
            parts.append("halt=\(Self.percent(halt.share))%\(answers)")
        }
        return parts.joined(separator: "; ")
    }

    private static func percent(_ share: Int) -> String {
        guard share % 100 > 0 else { return "\(share / 100)" }
        let rest = String(share % 100 + 100).dropFirst()
        return "\(share / 100).\(rest.last == "0" ? rest.dropLast() : rest)"
    }
}
