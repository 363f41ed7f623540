import Foundation

/// Where the tests find what was built and what was set up.
enum BuiltProducts {
    /// The folder of the test bundle, where the build puts the executables as well.
    static let directory = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()

    /// The server and its command line.
    static let martlet = directory.appendingPathComponent("martlet")

    static let package = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The Python programs that judge, in the Python that `Scripts/setup test` makes for them.
    static let peers = package.appendingPathComponent("Tests/Peers")
    static let python = package.appendingPathComponent(".build/python/bin/python3")
    static let hasPython = FileManager.default.isExecutableFile(atPath: python.path)

    /// Whether there is a PostgreSQL to start clusters of.
    static let hasPostgres = {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        return versions.contains {
            FileManager.default.isExecutableFile(atPath: "/usr/lib/postgresql/\($0)/bin/postgres")
        }
    }()

    /// Whether there is a Firefox, under either of its names.
    static let hasBrowser = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
        folder in
        ["firefox-esr", "firefox"].contains { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
    }
}
