import Testing

@testable import MartletServer

struct ListenAddressTests {
    @Test(arguments: [
        ("127.0.0.1", true), ("127.8.9.10", true), ("::1", true), ("localhost", true), ("10.0.0.1", false),
        ("127.example.org", false), ("127.0.0.1.example.org", false),
    ])
    func clearTextNeedsALoopbackAddressOrPermission(host: String, isLoopback: Bool) {
        let address = ServerConfiguration.Address(host: host, port: 8080)
        #expect(address.isLoopback == isLoopback)
        var configuration = ServerConfiguration(dataDirectory: "data")
        configuration.listen = address
        let error = refusal(of: configuration)
        #expect(error?.description.contains("--allow-clear-text") ?? false == !isLoopback)
    }

    private func refusal(of configuration: ServerConfiguration) -> ServerError? {
        do throws(ServerError) {
            try configuration.validate()
            return nil
        } catch {
            return error
        }
    }
}
