/// A duration as people type it: a number with `s`, `m`, `h` or `d` for seconds, minutes, hours or days.
struct DurationText: Equatable {
    static let form = "such as 90s, 10m, 2h or 3d"
    /// The maximum, ten years, in seconds.
    private static let limit: Int64 = 3650 * 86_400
    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]

    let seconds: Int64
    /// The duration in the ISO 8601 format that the hub's headers use: `PT90S`, `P3D`.
    let iso8601: String

    /// - Returns: nil if the text has another format, or if the duration is zero or more than ten years.
    init?(_ text: some StringProtocol) {
        let digits = text.dropLast()
        guard let unit = text.last, let length = Self.units[unit], !digits.isEmpty,
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int64(digits), (1...Self.limit / length).contains(number)
        else { return nil }
        seconds = number * length
        iso8601 = unit == "d" ? "P\(number)D" : "PT\(number)\(unit.uppercased())"
    }
}
