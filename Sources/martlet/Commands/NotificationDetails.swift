import MartletServer

/// The telemetry of a notification, read from the hub's XML (NotificationHubs.md, section 8.1).
struct NotificationDetails {
    /// How many pushes came to an outcome.
    struct Outcome {
        var name: String
        var count: Int { platforms.reduce(0) { $0 + $1.count } }
        /// The counts of the platforms, in the hub's order.
        var platforms: [(platform: String, count: Int)]
    }

    let state: String
    let outcomes: [Outcome]
    private let platformCount: Int

    init(xml: String) {
        state = Self.text(of: "State", in: xml) ?? "Unknown"
        var found: [Outcome] = []
        for (platform, counts) in Platforms.outcomeElements.compactMap({ platform, element in
            Self.text(of: element, in: xml).map { (platform, $0) }
        }) {
            for outcome in counts.pieces(between: "<Outcome>", and: "</Outcome>") {
                guard let name = Self.text(of: "Name", in: outcome),
                    let count = Self.text(of: "Count", in: outcome).flatMap({ Int($0) })
                else { continue }
                if let index = found.firstIndex(where: { $0.name == name }) {
                    found[index].platforms.append((platform, count))
                } else {
                    found.append(Outcome(name: name, platforms: [(platform, count)]))
                }
            }
        }
        outcomes = found
        platformCount = Set(found.flatMap { $0.platforms.map(\.platform) }).count
    }

    /// A line for each outcome. If the notification went to several platforms, it names them with their counts.
    var lines: [String] {
        outcomes.map { outcome in
            let parts = outcome.platforms.map { "\($0.platform) \($0.count)" }.joined(separator: ", ")
            return "\(outcome.name): \(outcome.count)\(platformCount > 1 ? " (\(parts))" : "")"
        }
    }

    /// Returns a message of the hub without the tracking id at its end.
    static func withoutTracking(_ detail: String) -> String {
        guard let tracking = detail.firstRange(of: ".TrackingId:") else { return detail }
        let sentence = detail[..<tracking.lowerBound]
        return sentence.last == "." ? String(sentence) : sentence + "."
    }

    /// Returns the texts of all elements with a name and without attributes.
    static func texts(of element: String, in xml: String) -> [String] {
        xml.pieces(between: "<\(element)>", and: "</\(element)>")
    }

    /// Returns the text of the first element with a name and without attributes.
    static func text(of element: String, in xml: String) -> String? {
        texts(of: element, in: xml).first
    }
}

extension String {
    fileprivate func pieces(between start: String, and end: String) -> [String] {
        var pieces: [String] = []
        var rest = self[...]
        while let open = rest.firstRange(of: start) {
            rest = rest[open.upperBound...]
            guard let close = rest.firstRange(of: end) else { break }
            pieces.append(String(rest[..<close.lowerBound]))
            rest = rest[close.upperBound...]
        }
        return pieces
    }
}
