import MartletCore
import MartletHTTP
import MartletModel

/// The header `Martlet-Rollout`: `rate=500` or `over=PT10M`, optionally followed by `; halt=5%` or `; halt=5%/200`.
enum RolloutHeader {
    static let name = "martlet-rollout"

    /// - Returns: nil if the request has no such header.
    static func read(from fields: HTTPFields) throws(HubAPIError) -> Rollout? {
        let values = fields.values(of: name)
        guard let text = values.first else { return nil }
        guard values.count == 1 else { throw .badRequest("Martlet-Rollout must be there once") }
        return try rollout(text)
    }

    static func rollout(_ text: String) throws(HubAPIError) -> Rollout {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false).map(\.trimmed)
        guard parts.count <= 2, let pace = pace(parts[0]) else {
            throw .badRequest(
                "Martlet-Rollout must be rate= and \(Rollout.rates.lowerBound) to \(Rollout.rates.upperBound) pushes a "
                    + "second, or over= and a duration from PT1S to P28D, then optionally '; halt=' and a share such as 5%"
            )
        }
        return Rollout(pace, halt: parts.count == 2 ? try halt(parts[1]) : nil)
    }

    private static func pace(_ text: Substring) -> Rollout.Pace? {
        if let rate = text.value(after: "rate=").flatMap(Self.number), Rollout.rates.contains(rate) {
            return .rate(rate)
        }
        guard let text = text.value(after: "over="), let time = XMLDuration(String(text))?.duration,
            Rollout.times.contains(time)
        else { return nil }
        return .over(time)
    }

    private static func halt(_ text: Substring) throws(HubAPIError) -> Rollout.Halt {
        guard let value = text.value(after: "halt=") else {
            throw .badRequest(
                "Martlet-Rollout: behind ';' there may be halt= alone, such as halt=5%; give rate= or over=, not both")
        }
        let parts = value.split(separator: "/", omittingEmptySubsequences: false)
        let answers = parts.count == 2 ? number(parts[1]) : Rollout.Halt.commonAnswers
        guard (1...2).contains(parts.count), let share = share(parts[0]), let answers,
            Rollout.Halt.answerLimits.contains(answers)
        else {
            throw .badRequest(
                "Martlet-Rollout: halt= takes a share from 0% to 99.99% and optionally, behind a slash, after how many "
                    + "answers it holds, 1 to \(Rollout.Halt.answerLimits.upperBound): halt=5%/200")
        }
        return Rollout.Halt(share: share, answers: answers)
    }

    /// Parses a percentage and returns it in hundredths of a percent.
    private static func share(_ text: Substring) -> Int? {
        guard text.last == "%" else { return nil }
        let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let whole = number(parts[0]), whole < 100 else { return nil }
        guard parts.count == 2 else { return whole * 100 }
        guard (1...2).contains(parts[1].utf8.count), let rest = number(parts[1]) else { return nil }
        return whole * 100 + (parts[1].utf8.count == 1 ? rest * 10 : rest)
    }

    /// Parses a number that consists of digits only.
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

    fileprivate func value(after name: String) -> Substring? {
        hasPrefix(name) ? dropFirst(name.count) : nil
    }
}
