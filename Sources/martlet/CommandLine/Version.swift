import CMartletLinux
import MartletServer

/// The version of the program, the commit that it was built from, and the compiler that built it.
enum Version {
    static let current = "0.1.0-dev"

    /// Commit, date and compiler, such as `a600f71, 2026-11-24; Swift 6.3.1`; empty if the program was built without
    /// `make build`.
    static let build = String(cString: martlet_build_stamp())

    static var line: String { line(build: build, libraries: LibraryVersions.all) }

    /// Returns the output of `martlet --version`.
    /// - Parameter libraries: The libraries, each with its name and version.
    static func line(build: String, libraries: [String]) -> String {
        let details = (build.isEmpty ? [] : [build]) + libraries
        return "martlet \(current) (\(details.joined(separator: ", ")))"
    }
}
