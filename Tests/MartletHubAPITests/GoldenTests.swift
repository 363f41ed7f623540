import MartletHTTP
import Testing

struct GoldenTests {
    @Test(
        "Exchanges are as the golden files say",
        arguments: [
            "registrations", "platforms", "clients", "installations", "listings", "messages", "sends", "tests",
            "telemetry", "errors", "pigeon", "feedback", "hubs", "jobs",
        ])
    func exchangesAreAsTheFilesSay(file: String) async throws {
        let fixture = try await HubFixture()
        var values: [String: String] = [:]
        for exchange in try GoldenExchange.file(file) {
            let response = await fixture.router.respond(to: try exchange.request(values, in: fixture))
            let text = GoldenExchange.text(of: response)
            #expect(
                exchange.matches(text, noting: &values),
                "\(file): \(exchange.name)\n--- wanted\n\(exchange.answer)\n--- got\n\(text)")
            #expect(response.fields["trackingid"]?.isEmpty == false)
            #expect(response.fields["x-ms-correlation-request-id"] == response.fields["trackingid"])
        }
    }
}
