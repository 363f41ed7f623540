import MartletHTTP
import MartletModel
import MartletOpenAPI
import Testing

@testable import MartletBackend

struct DescriptionTests {
    @Test func everyRouteIsDescribedAndNothingElse() async throws {
        let fixture = try await Fixture()
        let router = try #require((fixture.handler as? CrossSiteHandler)?.handler as? Router)
        let described = BackendDescription(platforms: fixture.platforms).description.routeNames
        #expect(described.sorted() == router.routeNames.sorted())
    }

    @Test func theDescriptionIsServedToAnybody() async throws {
        let response = try await Fixture().ask(.get, "/api/openapi.json")
        #expect(response.status == .ok)
        #expect(try response.json["openapi"]?.string == "3.1.0")
        #expect(try response.json["paths"]?["/api/register/{id}"]?["delete"] != nil)
    }
}
