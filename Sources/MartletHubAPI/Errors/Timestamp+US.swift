import MartletModel

extension Timestamp {
    /// The time in the format of the hub's error bodies: `M/d/yyyy h:mm:ss tt` in UTC.
    var usText: String {
        let digits = Array(iso8601.utf8)
        func number(_ index: Range<Int>) -> Int { digits[index].reduce(0) { $0 * 10 + Int($1) - 0x30 } }
        func two(_ index: Int) -> String { String(decoding: digits[index..<index + 2], as: UTF8.self) }
        let hour = number(11..<13)
        let clock = "\(hour % 12 == 0 ? 12 : hour % 12):\(two(14)):\(two(17)) \(hour < 12 ? "AM" : "PM")"
        return "\(number(5..<7))/\(number(8..<10))/\(number(0..<4)) \(clock)"
    }
}
