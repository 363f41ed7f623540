import MartletHTTP
import MartletModel
import MartletPush
import Testing

@testable import MartletSimulator

struct ControlAccessTests {
    private func status(
        _ method: HTTPMethod = .delete, _ path: String = "/simulator/faults", authority: String,
        origins: [String] = [], host: String = "127.0.0.1"
    ) async -> HTTPStatus {
        let state = SimulatorState(PushPlatforms.simulators(acceptsAnyKey: true)) { SimulatorFixture.now }
        let handler = ControlHandler(
            access: ControlAccess(host: host), routes: ControlRoutes(state: state).router)
        let request = HTTPRequest(
            method, path, authority: authority, fields: HTTPFields(origins.map { HTTPField("origin", $0) }),
            connection: SimulatorFixture.connection)
        return await handler.respond(to: request).status
    }

    @Test(arguments: [
        "localhost:9443", "LOCALHOST", "127.0.0.1:9443", "127.0.0.2", "[::1]:9443",
    ])
    func thisMachineIsReachedByItsNames(authority: String) async {
        #expect(await status(authority: authority) == .noContent)
        #expect(await status(authority: authority, origins: ["https://\(authority)"]) == .noContent)
    }

    @Test func theAddressThatItListensOnIsOneOfItsNames() async {
        #expect(await status(authority: "simulator.test:9443", host: "simulator.test") == .noContent)
        #expect(await status(authority: "simulator.test:9443") == .forbidden)
    }

    @Test(arguments: [
        "attacker.example", "localhost.attacker.example:9443", "127.0.0.1.attacker.example", "128.0.0.1", "", "a b",
    ])
    func aNameThatWasMadeToLeadHereIsRefused(authority: String) async {
        #expect(await status(authority: authority) == .forbidden)
        #expect(await status(.get, "/", authority: authority) == .forbidden)
    }

    @Test(arguments: [
        ["https://attacker.example"], ["null"], ["https://localhost:8443"], ["http://localhost:9443"],
        ["https://localhost:9443", "https://attacker.example"], ["https://localhost:9443/x"],
    ])
    func aPageOfAnotherOriginIsRefused(origins: [String]) async {
        for (method, path) in [
            (HTTPMethod.delete, "/simulator/faults"), (.post, "/simulator/reset"), (.get, "/simulator/services"),
            (.get, "/"),
        ] {
            #expect(await status(method, path, authority: "localhost:9443", origins: origins) == .forbidden)
        }
    }
}
