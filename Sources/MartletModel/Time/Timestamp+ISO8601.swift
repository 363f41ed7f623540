extension Timestamp {
    /// The date and time as `yyyy-MM-ddTHH:mm:ss.SSSZ`. This is the only format that every client of the hub can parse,
    /// because the legacy iOS client knows no other (NotificationHubs.md, section 4.4).
    public var iso8601: String {
        let (days, time) = milliseconds.quotientAndRemainder(flooringBy: 86_400_000)
        let date = CivilDate(daysSince1970: days)
        let (second, millisecond) = time.quotientAndRemainder(dividingBy: 1000)
        var text: [UInt8] = []
        text.reserveCapacity(24)
        text.append(date.year, digits: 4)
        text.append(UInt8(ascii: "-"), date.month, digits: 2)
        text.append(UInt8(ascii: "-"), date.day, digits: 2)
        text.append(UInt8(ascii: "T"), second / 3600, digits: 2)
        text.append(UInt8(ascii: ":"), second / 60 % 60, digits: 2)
        text.append(UInt8(ascii: ":"), second % 60, digits: 2)
        text.append(UInt8(ascii: "."), millisecond, digits: 3)
        text.append(UInt8(ascii: "Z"))
        return String(decoding: text, as: UTF8.self)
    }

    /// Parses a date and time in the formats that clients send: with or without seconds, a fraction of any length, and
    /// a time zone written as `Z`, `+hh:mm` or `+hhmm`. Without a time zone, the time is in UTC.
    public init?(iso8601 text: String) {
        var scanner = Scanner(text)
        guard let year = scanner.number(4), scanner.skip("-"), let month = scanner.number(2), scanner.skip("-"),
            let day = scanner.number(2), scanner.skip("T") || scanner.skip("t") || scanner.skip(" "),
            let hour = scanner.number(2), scanner.skip(":"), let minute = scanner.number(2),
            let date = CivilDate(year: year, month: month, day: day), hour < 24, minute < 60
        else { return nil }
        var second: Int64 = 0
        var millisecond: Int64 = 0
        if scanner.skip(":") {
            guard let value = scanner.number(2), value <= 60 else { return nil }
            second = value
            if scanner.skip(".") {
                guard let fraction = scanner.fractionInMilliseconds() else { return nil }
                millisecond = fraction
            }
        }
        guard let offset = scanner.zoneInMinutes(), scanner.isAtEnd else { return nil }
        let seconds = date.daysSince1970 * 86_400 + hour * 3600 + (minute - offset) * 60 + second
        self.init(milliseconds: seconds * 1000 + millisecond)
    }
}

extension [UInt8] {
    /// Appends a number with at least `digits` digits.
    fileprivate mutating func append(_ number: Int64, digits: Int) {
        let text = String(number).utf8
        append(contentsOf: repeatElement(UInt8(ascii: "0"), count: Swift.max(0, digits - text.count)))
        append(contentsOf: text)
    }

    fileprivate mutating func append(_ separator: UInt8, _ number: Int64, digits: Int) {
        append(separator)
        append(number, digits: digits)
    }
}

/// A date in the proleptic Gregorian calendar.
private struct CivilDate {
    var year: Int64
    var month: Int64
    var day: Int64

    init?(year: Int64, month: Int64, day: Int64) {
        guard (1...12).contains(month), day >= 1, day <= CivilDate.days(in: month, of: year) else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Creates the date of a day. In this calculation, years begin in March, so that the leap day is the last day of
    /// its year.
    init(daysSince1970: Int64) {
        let (era, dayOfEra) = (daysSince1970 + 719_468).quotientAndRemainder(flooringBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    var daysSince1970: Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = shiftedYear.quotientAndRemainder(flooringBy: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

private struct Scanner {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    mutating func number(_ digits: Int) -> Int64? {
        let text = rest.prefix(digits)
        guard text.count == digits, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        rest.removeFirst(digits)
        return text.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    mutating func fractionInMilliseconds() -> Int64? {
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard !digits.isEmpty else { return nil }
        rest.removeFirst(digits.count)
        let three = Array(digits.prefix(3)) + Array(repeating: 0x30, count: max(0, 3 - digits.count))
        return three.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    /// Parses a time zone and returns its offset in minutes east of UTC. The offset is 0 for `Z`, and if the text ends
    /// without a time zone. Returns nil if the text is not a time zone.
    mutating func zoneInMinutes() -> Int64? {
        if isAtEnd || skip("Z") || skip("z") { return 0 }
        let sign: Int64
        if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
        guard let hours = number(2) else { return nil }
        _ = skip(":")
        guard let minutes = number(2), hours < 24, minutes < 60 else { return nil }
        return sign * (hours * 60 + minutes)
    }
}

extension Int64 {
    fileprivate func quotientAndRemainder(flooringBy divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
