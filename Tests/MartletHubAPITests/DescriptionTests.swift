import MartletCore
import MartletHTTP
import MartletModel
import MartletOpenAPI
import MartletTesting
import Testing

@testable import MartletHubAPI

struct DescriptionTests {
    @Test func everyRouteIsDescribedAndNothingElse() async throws {
        let fixture = try await HubFixture()
        let containers = ContainerAPI(
            store: MemoryContainers(), signer: try URLSigner(key: Array(repeating: 1, count: 32)),
            time: fixture.time
        ).makeRouter()
        let described = HubDescription(platforms: PushPlatformList([])).description.routeNames
        #expect(described.sorted() == (fixture.router.routeNames + containers.routeNames).sorted())
    }

    @Test func theDescriptionIsServedToAnybody() async throws {
        let fixture = try await HubFixture()
        let response = await fixture.router.respond(to: HTTPRequest(.get, "/$openapi.json"))
        #expect(response.status == .ok)
        #expect(response.fields["content-type"] == "application/json")
        let document = try JSON(parsing: response.bytes)
        #expect(document["openapi"]?.string == "3.1.0")
        #expect(document["paths"]?["/{hub}/registrations/{id}"]?["put"]?["operationId"]?.string == "putRegistration")
        #expect(document["paths"]?["/$containers/{container}/{blob}"]?["head"] != nil)
    }

    @Test func whatDependsOnPlatformsComesFromTheirDescriptors() async throws {
        let description = HubDescription(platforms: PushPlatformList([CarrierPigeon.self])).description
        let parameters = description.document["paths"]?["/{hub}/messages"]?["post"]?["parameters"]?.array ?? []
        let format = parameters.first { $0["name"]?.string == "ServiceBusNotification-Format" }
        #expect(format?["schema"]?["enum"] == ["pigeon", "template", "message"])
    }

    @Test func idsOfOperationsAreUnique() {
        let ids = HubDescription(platforms: PushPlatformList([])).description.groups.flatMap(\.operations).map(\.id)
        #expect(Set(ids).count == ids.count)
    }
}
