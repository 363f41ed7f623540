import MartletConsole
import MartletHTTP
import Testing

@testable import MartletServer

struct ConsoleConfigurationTests {
    private func configuration(_ change: (inout ServerConfiguration) -> Void) -> ServerConfiguration {
        var configuration = ServerConfiguration(
            dataDirectory: "x", listen: ServerConfiguration.Address(host: "127.0.0.1", port: 8080))
        change(&configuration)
        return configuration
    }

    @Test func anAddressOfItsOwnIsLoopbackOrHasACertificate() throws {
        let far = ServerConfiguration.Address(host: "0.0.0.0", port: 8090)
        #expect(throws: ServerError.self) { try configuration { $0.console = .own(far) }.validate() }
        try configuration {
            $0.console = .own(far)
            $0.tls = .selfSigned
            $0.tlsListen = far
        }.validate()
        try configuration { $0.console = .own(ServerConfiguration.Address(host: "::1", port: 8090)) }.validate()
    }

    @Test func filesAreReadFromADirectoryOnLoopbackAlone() throws {
        try configuration { $0.consoleFiles = "web" }.validate()
        #expect(throws: ServerError.self) {
            try configuration {
                $0.consoleFiles = "web"
                $0.listenSocket = "/run/x"
            }.validate()
        }
    }

    @Test func theServersNamesAreThoseOfItsAddresses() {
        let settings = configuration { $0.publicURL = HTTPOrigin("https://push.example.com") }.consoleSettings
        #expect(settings.publicURL?.host == "push.example.com")
        #expect(settings.hosts.contains("127.0.0.1"))
    }
}
