import Testing

@testable import MartletServer

struct VersionWithCommitTests {
    @Test(arguments: [
        ("a600f71, 2026-11-24; Swift 6.3.1", "0.1.0 (a600f71)"),
        ("a600f71+changes, 2026-11-24", "0.1.0 (a600f71+changes)"),
        ("Swift 6.3.1", "0.1.0"), ("", "0.1.0"),
    ])
    func theCommitIsBehindTheVersion(build: String, expected: String) {
        var configuration = ServerConfiguration(dataDirectory: "data")
        (configuration.version, configuration.build) = ("0.1.0", build)
        #expect(configuration.versionWithCommit == expected)
    }
}
