import MartletModel

/// A duration in the format of XML Schema: `P1DT2H3M4.5S` (XML Schema part 2, section 3.2.6).
struct XMLDuration: Hashable {
    /// The duration; nil means unlimited, which is written as the maximum duration of .NET.
    let duration: Duration?

    private static let unlimited = "P10675199DT2H48M5.4775807S"
    private static let unlimitedMilliseconds: Int64 = 922_337_203_685_477

    init(_ duration: Duration?) {
        self.duration = duration
    }

    /// Parses a duration. A year counts as 365 days and a month as 30 days, as in .NET. Fractions of a millisecond are
    /// dropped.
    /// - Returns: nil if the text is not a duration, or is negative.
    init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "P") else { return nil }
        let halves = text.utf8.dropFirst().split(
            separator: UInt8(ascii: "T"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let last = halves.last, !last.isEmpty, let date = Self.sum(halves[0], Self.dateUnits),
            let clock = halves.count == 2 ? Self.sum(last, Self.clockUnits) : 0
        else { return nil }
        let milliseconds = date.addingOrMaximum(clock)
        duration = milliseconds < Self.unlimitedMilliseconds ? .milliseconds(milliseconds) : nil
    }

    var text: String {
        guard let milliseconds = duration?.wholeMilliseconds, milliseconds < Self.unlimitedMilliseconds else {
            return Self.unlimited
        }
        let (minutes, rest) = milliseconds.quotientAndRemainder(dividingBy: 60_000)
        let (days, hours) = (minutes / 1440, minutes / 60 % 24)
        let date = days > 0 ? "\(days)D" : ""
        var clock = hours > 0 ? "\(hours)H" : ""
        if minutes % 60 > 0 { clock += "\(minutes % 60)M" }
        if rest > 0 || date.isEmpty && clock.isEmpty { clock += "\(Self.seconds(rest))S" }
        return "P\(date)\(clock.isEmpty ? "" : "T")\(clock)"
    }

    private typealias Unit = (letter: UInt8, milliseconds: Int64)

    private static let dateUnits: [Unit] = [
        (UInt8(ascii: "Y"), 365 * 86_400_000), (UInt8(ascii: "M"), 30 * 86_400_000), (UInt8(ascii: "D"), 86_400_000),
    ]
    private static let clockUnits: [Unit] = [
        (UInt8(ascii: "H"), 3_600_000), (UInt8(ascii: "M"), 60_000), (UInt8(ascii: "S"), 1000),
    ]

    /// Returns the sum, in milliseconds, of numbers with units, such as `2H3M`; nil if the text has another form. Each
    /// unit may occur once, in the given order; only seconds may have a fraction.
    private static func sum(_ text: Substring.UTF8View, _ units: [Unit]) -> Int64? {
        var rest = text
        var units = units[...]
        var total: Int64 = 0
        while !rest.isEmpty {
            let whole = takeDigits(&rest)
            var fraction = rest[..<rest.startIndex]
            if rest.first == UInt8(ascii: ".") {
                rest.removeFirst()
                fraction = takeDigits(&rest)
                guard !fraction.isEmpty, rest.first == UInt8(ascii: "S") else { return nil }
            }
            guard !whole.isEmpty, let letter = rest.popFirst(),
                let index = units.firstIndex(where: { $0.letter == letter })
            else { return nil }
            let (product, overflows) = (Int64(Substring(whole)) ?? .max)
                .multipliedReportingOverflow(by: units[index].milliseconds)
            total = total.addingOrMaximum(overflows ? .max : product).addingOrMaximum(milliseconds(fraction))
            units = units[(index + 1)...]
        }
        return total
    }

    private static func takeDigits(_ text: inout Substring.UTF8View) -> Substring.UTF8View {
        let digits = text.prefix { (0x30...0x39).contains($0) }
        text = text[digits.endIndex...]
        return digits
    }

    private static func milliseconds(_ fraction: Substring.UTF8View) -> Int64 {
        let three = Array(fraction.prefix(3)) + Array(repeating: UInt8(ascii: "0"), count: 3)
        return three.prefix(3).reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    /// Formats milliseconds as seconds, such as `5` or `5.25`.
    private static func seconds(_ milliseconds: Int64) -> String {
        let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        guard rest > 0 else { return String(whole) }
        var digits = String(String(1000 + rest).dropFirst())
        while digits.last == "0" { digits.removeLast() }
        return "\(whole).\(digits)"
    }
}

extension Int64 {
    fileprivate func addingOrMaximum(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
