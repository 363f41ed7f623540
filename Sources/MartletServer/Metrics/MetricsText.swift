import MartletCore

/// Writes metrics in the text exposition format of Prometheus, version 0.0.4.
struct MetricsText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    /// Adds a family with its samples.
    /// - Parameter samples: Values of the family's labels, in their order, and the value. No two have the same labels.
    mutating func add(_ family: MetricFamily, _ samples: [(labels: [String], value: Double)]) {
        addHead(of: family)
        for sample in samples {
            addLine(family.name, Array(zip(family.labels, sample.labels)), Self.number(sample.value))
        }
    }

    /// Adds a family of one sample without labels.
    mutating func add(_ family: MetricFamily, _ value: Double) {
        add(family, [([], value)])
    }

    /// Adds a family of histograms of seconds.
    mutating func add(_ family: MetricFamily, _ histograms: [(labels: [String], histogram: Histogram)]) {
        addHead(of: family)
        for (labels, histogram) in histograms {
            let labels = Array(zip(family.labels, labels))
            var count: UInt64 = 0
            for (index, number) in histogram.counts.enumerated() {
                count += number
                let bound = index < histogram.bounds.count ? Self.number(histogram.bounds[index].inSeconds) : "+Inf"
                addLine("\(family.name)_bucket", labels + [("le", bound)], String(count))
            }
            addLine("\(family.name)_sum", labels, Self.number(histogram.sum.inSeconds))
            addLine("\(family.name)_count", labels, String(count))
        }
    }

    private mutating func addHead(of family: MetricFamily) {
        text += "# HELP \(family.name) \(family.help)\n# TYPE \(family.name) \(family.kind.rawValue)\n"
    }

    private mutating func addLine(_ name: String, _ labels: [(String, String)], _ value: String) {
        text += name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",") + "}"
        }
        text += " \(value)\n"
    }

    /// Whole numbers without a fraction, for people's eyes.
    private static func number(_ value: Double) -> String {
        Int64(exactly: value).map { String($0) } ?? String(value)
    }

    private static func escaped(_ value: String) -> String {
        var escaped = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}

extension Duration {
    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
