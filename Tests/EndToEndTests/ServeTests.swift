import Foundation
import Testing

/// `martlet serve` as a process: the ready line, health, and the end.
@Suite(.timeLimit(.minutes(10)))
struct ServeTests {
    @Test func aServerSaysWhereItListensAndEndsWhenAsked() async throws {
        let server = try await RunningServer.start([
            "--tls-listen", "127.0.0.1:0", "--tls-self-signed", "--simulator", "--simulator-listen", "127.0.0.1:0",
        ])
        let address = try #require(server.address("http"))
        let authority = server.dataDirectory.appendingPathComponent("tls/ca.pem")
        for base in [address, try #require(server.address("https"))] {
            for path in ["health/live", "health/ready"] {
                let arguments = [
                    "--silent", "--cacert", authority.path, "--output", "/dev/null", "--write-out", "%{http_code}",
                    base.appendingPathComponent(path).absoluteString,
                ]
                let answer = try await Finished.running(URL(fileURLWithPath: "/usr/bin/curl"), arguments)
                #expect(answer.output == "200", "\(base.scheme ?? "") \(path)")
            }
        }
        #expect(server.readyLine.contains(" simulator=https://127.0.0.1:"))
        #expect(await server.stop() == 0)
    }

    @Test(
        "Trap 1: one listener serves who speaks only HTTP/2 and who speaks only HTTP/1.1",
        arguments: [
            ("--http2", "2"), ("--http1.1", "1.1"),
        ])
    func bothVersionsAreNegotiated(flag: String, version: String) async throws {
        let server = try await RunningServer.start(["--tls-listen", "127.0.0.1:0", "--tls-self-signed"])
        let authority = server.dataDirectory.appendingPathComponent("tls/ca.pem")
        let base = try #require(server.address("https"))
        let arguments = [
            "--silent", flag, "--cacert", authority.path, "--output", "/dev/null", "--write-out",
            "%{http_version} %{http_code}", base.appendingPathComponent("health/live").absoluteString,
        ]
        let answer = try await Finished.running(URL(fileURLWithPath: "/usr/bin/curl"), arguments)
        #expect(answer.output == "\(version) 200")
        #expect(await server.stop() == 0)
    }

    @Test func aServerMayHaveAsManyConnectionsAsTheSystemAllows() async throws {
        let server = try await RunningServer.start()
        let limits = try String(contentsOfFile: "/proc/\(server.processIdentifier)/limits", encoding: .utf8)
        let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max open files") })
        let values = line.split(separator: " ").compactMap { Int($0) }
        #expect(values.count == 2 && values[0] == values[1])
        #expect(await server.stop() == 0)
    }
}
