import Foundation
import Testing

/// The judges of Tests/Peers share no code with Martlet. Each runs to its end; those of one suite one after another, because
/// several together keep two cores so busy that nothing is in time, and the suites beside each other, because each of
/// them mostly waits.
enum Judge {
    /// What is told where none can run.
    static let isMissing: Comment = "there is no .build/python: run `Scripts/setup test` once"

    /// A judge that runs longer is stopped with all of its programs, and fails.
    private static let seconds = 590

    /// Runs one on the server's program; shows its closing counts, or all of its words where it is not content.
    /// - Parameters:
    ///   - name: That of its file.
    ///   - options: What else it is to be told.
    static func run(_ name: String, _ options: String...) async throws {
        let finished = try await Finished.running(
            URL(fileURLWithPath: "/usr/bin/timeout"),
            ["--kill-after=5", "\(seconds)", BuiltProducts.python.path, name, BuiltProducts.martlet.path] + options,
            environment: ["PYTHONDONTWRITEBYTECODE": "1"], in: BuiltProducts.peers)
        let counts = finished.output.split(separator: "\n").filter { line in
            line.prefixMatch(of: #/[a-z-]+: |Ran /#) != nil
        }
        print(counts.joined(separator: "\n"))
        // Into a pipe, the output is buffered: without this, where a run stood when it was stopped is not seen.
        fflush(nil)
        #expect(finished.status == 0, "\(finished.output)")
    }
}
