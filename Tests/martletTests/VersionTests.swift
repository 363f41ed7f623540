import Testing

@testable import martlet

struct VersionTests {
    @Test func theVersionNamesCommitCompilerAndLibraries() {
        let line = Version.line(build: "a600f71, 2026-11-24; Swift 6.3.1", libraries: ["SQLite 3.40.1"])
        #expect(line == "martlet \(Version.current) (a600f71, 2026-11-24; Swift 6.3.1, SQLite 3.40.1)")
    }

    @Test func withoutABuildStampTheLibrariesAreNamed() {
        #expect(Version.line(build: "", libraries: ["SQLite 3.40.1"]) == "martlet \(Version.current) (SQLite 3.40.1)")
    }
}
