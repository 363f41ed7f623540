import Foundation
import Testing

@testable import MartletServer

/// Docs/Metrics.md and what a server serves say the same.
struct MetricsDocumentTests {
    private struct Row: Hashable {
        var name: String
        var kind: String
        var labels: [String]
    }

    private let directory = TemporaryDirectory()

    private func documented() throws -> [Row] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Docs/Metrics.md")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard cells.count == 6, MetricFamily.Kind(rawValue: cells[2]) != nil else { return nil }
            return Row(
                name: cells[1].replacing("`", with: ""), kind: cells[2],
                labels: cells[3].replacing("`", with: "").split(separator: ",").map {
                    $0.trimmingCharacters(in: .whitespaces)
                })
        }
    }

    @Test func everyMetricIsInTheTableAndEveryRowIsServed() async throws {
        let engine = try await Engine.open(
            ServerConfiguration(dataDirectory: directory.path, loops: 1), fallbacks: [:])
        let text = try await engine.metrics.text()
        await engine.close()
        let documented = try documented()
        let served = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map {
            $0.split(separator: " ").dropFirst(2).map(String.init)
        }
        #expect(served == documented.map { [$0.name, $0.kind] })
        let families = MetricFamily.all.map { Row(name: $0.name, kind: $0.kind.rawValue, labels: $0.labels) }
        #expect(families == documented)
    }

    @Test func namesFollowTheCustom() {
        for family in MetricFamily.all {
            #expect(family.name.hasSuffix("_total") == (family.kind == .counter), "\(family.name)")
            #expect(family.name.hasPrefix("martlet_") || family.name.hasPrefix("process_"))
            if family.kind == .histogram { #expect(family.name.hasSuffix("_seconds")) }
        }
    }
}
