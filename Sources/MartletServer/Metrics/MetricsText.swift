import MartletCore

/// Writes metrics in the text exposition format of Prometheus, version 0.0.4.
struct MetricsText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    /// Adds a family with its samples.
    /// - Parameter samples: For each sample, the values of the labels, in the order of the family's label names, and
    ///   the value of the sample. No two samples have the same labels.
    mutating func add(_ family: MetricFamily, _ samples: [(labels: [String], value: Double)]) {
        addHead(of: family)
        for sample in samples {
            addLine(family.name, Array(zip(family.labels, sample.labels)), Self.number(sample.value))
        }
    }

    /// Adds a family with one sample and no labels.
    mutating func add(_ family: MetricFamily, _ value: Double) {
        add(family, [([], value)])
    }

    /// Adds a family of histograms. Their unit is seconds.
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

    /// Formats whole numbers without a fraction, so that they are easy to read.
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
