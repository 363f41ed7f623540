/// The telemetry of a notification, read from the hub's XML (NotificationHubs.md, section 8.1).
struct NotificationDetails {
    struct Outcome {
        var name: String
        var count: Int
    }

    let state: String
    /// The outcomes of all platforms together, with each name once.
    let outcomes: [Outcome]

    init(xml: String) {
        state = Self.text(of: "State", in: xml) ?? "Unknown"
        var outcomes: [Outcome] = []
        for outcome in xml.pieces(between: "<Outcome>", and: "</Outcome>") {
            guard let name = Self.text(of: "Name", in: outcome),
                let count = Self.text(of: "Count", in: outcome).flatMap({ Int($0) })
            else { continue }
            if let index = outcomes.firstIndex(where: { $0.name == name }) {
                outcomes[index].count += count
            } else {
                outcomes.append(Outcome(name: name, count: count))
            }
        }
        self.outcomes = outcomes
    }

    /// Returns a message of the hub without the tracking id at its end.
    static func withoutTracking(_ detail: String) -> String {
        guard let tracking = detail.firstRange(of: ".TrackingId:") else { return detail }
        let sentence = detail[..<tracking.lowerBound]
        return sentence.last == "." ? String(sentence) : sentence + "."
    }

    /// Returns the texts of all elements that have the given name and no attributes.
    static func texts(of element: String, in xml: String) -> [String] {
        xml.pieces(between: "<\(element)>", and: "</\(element)>")
    }

    /// Returns the text of the first element that has the given name and no attributes; nil if there is none.
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
