import MartletCore
import MartletHTTP
import MartletModel

/// Parses the header `Martlet-Rollout`. Its parameters are separated by semicolons, in any order, each at most once.
///
/// - The speed: `rate=500` or `over=PT10M`.
/// - A canary: `first=1000` or `first=1%`, with an optional `wait=PT10M`.
/// - The share of failures at which the send halts: `halt=5%` or `halt=5%/200`.
enum RolloutHeader {
    static let name = "martlet-rollout"

    /// Reads the header.
    /// - Returns: nil if the request has no such header.
    static func read(from fields: HTTPFields) throws(HubAPIError) -> Rollout? {
        let values = fields.values(of: name)
        guard let text = values.first else { return nil }
        guard values.count == 1 else { throw .badRequest("Martlet-Rollout must be given only once") }
        return try rollout(text)
    }

    static func rollout(_ text: String) throws(HubAPIError) -> Rollout {
        guard !text.utf8.contains(UInt8(ascii: ",")) else {
            throw .badRequest(
                "Martlet-Rollout has a comma; its parts are separated by ';', as in first=1000; wait=PT10M")
        }
        var parts: [Name: Substring] = [:]
        for part in text.split(separator: ";", omittingEmptySubsequences: false).map(\.trimmed) {
            let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard words.count == 2, let name = Name(rawValue: String(words[0])) else {
                throw .badRequest("Martlet-Rollout has the unknown parameter '\(shown(part))'; \(form)")
            }
            guard parts.updateValue(words[1], forKey: name) == nil else {
                throw .badRequest("Martlet-Rollout has \(name.rawValue)= twice")
            }
        }
        guard parts[Name.rate] == nil || parts[Name.over] == nil else {
            throw .badRequest("Martlet-Rollout has rate= and over=; give one of them")
        }
        let sample = try Self.sample(parts[Name.first])
        guard sample != nil || parts[Name.wait] == nil else {
            throw .badRequest("Martlet-Rollout has wait= without first=; the wait comes after a sample")
        }
        let pace = try Self.pace(parts)
        guard pace != nil || sample != nil else {
            throw .badRequest("Martlet-Rollout has none of first=, rate= and over=; \(form)")
        }
        return Rollout(
            pace, halt: try halt(parts[Name.halt], isCanary: sample != nil), sample: sample,
            wait: try wait(parts[Name.wait]))
    }

    private enum Name: String {
        case first, wait, rate, over, halt
    }

    private static let form =
        "it is, for example, rate=500, over=PT10M; halt=5%, or first=1000; wait=PT10M; rate=500; halt=2%"

    /// Returns the first 40 bytes of a parameter, with `?` in place of each byte that is unsafe in an answer.
    private static func shown(_ part: Substring) -> String {
        String(decoding: part.utf8.prefix(40).map { (0x20..<0x7F).contains($0) ? $0 : 0x3F }, as: UTF8.self)
    }

    private static func sample(_ text: Substring?) throws(HubAPIError) -> Rollout.Sample? {
        guard let text else { return nil }
        if let share = share(text), Rollout.Sample.shares.contains(share) { return .share(share) }
        if let size = number(text), Rollout.Sample.sizes.contains(size) { return .size(size) }
        throw .badRequest(
            "Martlet-Rollout: first= takes a number of devices, \(Rollout.Sample.sizes.lowerBound) to "
                + "\(Rollout.Sample.sizes.upperBound), or a share of them, 0.01% to 50%")
    }

    private static func wait(_ text: Substring?) throws(HubAPIError) -> Duration? {
        guard let text else { return nil }
        guard let time = XMLDuration(String(text))?.duration, Rollout.waits.contains(time) else {
            throw .badRequest("Martlet-Rollout: wait= takes a duration from PT1M to P7D")
        }
        return time
    }

    private static func pace(_ parts: [Name: Substring]) throws(HubAPIError) -> Rollout.Pace? {
        if let text = parts[Name.rate] {
            guard let rate = number(text), Rollout.rates.contains(rate) else {
                throw .badRequest(
                    "Martlet-Rollout: rate= takes \(Rollout.rates.lowerBound) to \(Rollout.rates.upperBound) pushes a "
                        + "second")
            }
            return .rate(rate)
        }
        guard let text = parts[Name.over] else { return nil }
        guard let time = XMLDuration(String(text))?.duration, Rollout.times.contains(time) else {
            throw .badRequest("Martlet-Rollout: over= takes a duration from PT1S to P28D")
        }
        return .over(time)
    }

    private static func halt(_ value: Substring?, isCanary: Bool) throws(HubAPIError) -> Rollout.Halt? {
        guard let value else { return nil }
        let parts = value.split(separator: "/", omittingEmptySubsequences: false)
        let answers = parts.count == 2 ? number(parts[1]) : Rollout.Halt.commonAnswers
        guard (1...2).contains(parts.count), let share = share(parts[0]), let answers,
            Rollout.Halt.answerLimits.contains(answers)
        else {
            throw .badRequest(
                "Martlet-Rollout: halt= takes a share from 0% to 99.99% and optionally, after a slash, the minimum "
                    + "number of answers, 1 to \(Rollout.Halt.answerLimits.upperBound): halt=5%/200")
        }
        return Rollout.Halt(share: share, answers: answers, statesAnswers: parts.count == 2 || !isCanary)
    }

    /// Parses a percentage below 100, with at most two decimals. Returns the number of hundredths of a percent.
    private static func share(_ text: Substring) -> Int? {
        guard text.last == "%" else { return nil }
        let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let whole = number(parts[0]), whole < 100 else { return nil }
        guard parts.count == 2 else { return whole * 100 }
        guard (1...2).contains(parts[1].utf8.count), let rest = number(parts[1]) else { return nil }
        return whole * 100 + (parts[1].utf8.count == 1 ? rest * 10 : rest)
    }

    /// Parses a number of 1 to 9 digits, without a sign.
    private static func number(_ text: Substring) -> Int? {
        guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let start = drop { $0 == " " || $0 == "\t" }
        return start.lastIndex { $0 != " " && $0 != "\t" }.map { start[...$0] } ?? ""
    }
}
