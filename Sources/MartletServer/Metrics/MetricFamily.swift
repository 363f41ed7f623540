/// One metric, as Docs/Metrics.md describes it.
struct MetricFamily: Sendable, Hashable {
    enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
    }

    let name: String
    let kind: Kind
    /// The names of the labels, in the order in which samples list their values.
    let labels: [String]
    /// The help text, on one line.
    let help: String

    init(_ name: String, _ kind: Kind, _ labels: [String] = [], _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
    }
}
