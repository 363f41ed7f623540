/// `martlet metrics`: prints the metrics of the running server.
enum MetricsCommand {
    static let command = Command(
        "metrics", "Print the metrics of the running server in the text format of Prometheus.",
        options: [.data, .adminSocket]
    ) { invocation in
        Terminal.print(try await Administration(invocation).text("/metrics").trimmedAtEnd)
    }
}

extension String {
    /// The text without the line feed at its end.
    fileprivate var trimmedAtEnd: String { hasSuffix("\n") ? String(dropLast()) : self }
}
