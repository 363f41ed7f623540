/// A duration as people type it: a number with `s`, `m`, `h` or `d` for seconds, minutes, hours or days.
struct DurationText: Equatable {
    static let form = "such as 90s, 10m, 2h or 3d"
    /// Ten years.
    private static let limit: Int64 = 3650 * 86_400
    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]

    let seconds: Int64
    /// By ISO 8601, as the hub's headers take it: `PT90S`, `P3D`.
    let iso8601: String

    /// - Returns: nil for another form, for nothing and for more than ten years.
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
