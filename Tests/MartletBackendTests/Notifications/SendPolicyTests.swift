import MartletHTTP
import MartletModel
import Testing

@testable import MartletBackend

struct SendPolicyTests {
    @Test(
        arguments: [
            (true, [], true, false), (false, [], false, false), (true, ["admin"], true, true),
            (false, ["admin"], true, true), (false, ["editor"], false, false),
        ] as [(Bool, Set<String>, Bool, Bool)])
    func usersMayNotifyUsersAndAdminsMayUseTags(
        usersMaySend: Bool, roles: Set<String>, users: Bool, tags: Bool
    ) throws {
        let policy = RolePolicy(usersMaySend: usersMaySend)
        let caller = Caller(name: try UserName("alice"), roles: roles)
        #expect(policy.allows(caller, toSendTo: .users([try UserName("bob")])) == users)
        #expect(policy.allows(caller, toSendTo: .tags(try TagExpression("news"))) == tags)
    }

    @Test func aSendThatThePolicyForbidsIsNotSent() async throws {
        let fixture = try await Fixture(settings: BackendSettings(policy: RolePolicy(usersMaySend: false)))
        let response = await fixture.ask(.post, "/api/notifications?pns=pigeon&to_tag=alice", as: "bob", #""x""#)
        #expect(response.status == .forbidden)
        #expect(try response.json["code"] == 40300)
        #expect(fixture.sent.deliveries.isEmpty)
    }
}
