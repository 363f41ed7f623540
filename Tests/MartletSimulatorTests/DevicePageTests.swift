import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletSimulator

struct DevicePageTests {
    @Test func thePageShowsEveryDeviceAndWhatItReceived() async throws {
        let fixture = SimulatorFixture()
        let handle = try await fixture.device()
        let token = try SimulatorFixture.providerToken(.generate())
        _ = await fixture.push("hello", to: handle, token: token)
        _ = await fixture.push("<script>alert('&\"')</script>", to: handle, token: token)
        let response = await fixture.handler.respond(to: HTTPRequest(.get, "/"))
        #expect(response.status == .ok)
        #expect(response.fields["content-type"] == "text/html; charset=utf-8")
        #expect(response.fields["content-security-policy"]?.hasPrefix("default-src 'none'") == true)
        let page = String(decoding: response.bytes, as: UTF8.self)
        #expect(page.contains("<code>\(handle)</code>"))
        #expect(page.contains("<strong>hello</strong>"))
        #expect(page.contains("<strong>&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;</strong>"))
        #expect(!page.contains("<script"))
    }

    @Test func aPageWithoutDevicesSaysSo() async {
        let response = await SimulatorFixture().handler.respond(to: HTTPRequest(.get, "/"))
        #expect(String(decoding: response.bytes, as: UTF8.self).contains("No devices yet."))
    }
}
