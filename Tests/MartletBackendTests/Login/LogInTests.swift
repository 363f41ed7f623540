import Dispatch
import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletBackend
@testable import MartletCrypto

struct LogInTests {
    let somewhere = "/api/register"

    @Test func withoutCredentialsTheAnswerSaysHowToLogIn() async throws {
        let fixture = try await Fixture()
        let response = await fixture.ask(.post, somewhere)
        #expect(response.status == .unauthorized)
        let challenges = response.fields.values(of: "www-authenticate")
        #expect(challenges.contains(#"Basic realm="martlet", charset="UTF-8""#))
        #expect(challenges.contains { $0.hasPrefix("Bearer") })
        #expect(!response.message.isEmpty)
    }

    @Test(arguments: [
        ("PUT", "/api/register/1"), ("DELETE", "/api/register/1"), ("POST", "/api/notifications?pns=pigeon&to_tag=bob"),
        ("DELETE", "/api/sessions"),
    ])
    func noRouteWorksWithoutCredentials(method: String, target: String) async throws {
        let fixture = try await Fixture()
        let response = await fixture.ask(HTTPMethod(rawValue: method), target, #""hello""#)
        #expect(response.status == .unauthorized)
        #expect(fixture.sent.deliveries.isEmpty)
    }

    @Test func basicWorksInAnyCaseOfTheName() async throws {
        let fixture = try await Fixture()
        #expect(await fixture.ask(.post, somewhere, as: "alice").status == .ok)
        #expect(await fixture.ask(.post, somewhere, as: "ALICE").status == .ok)
    }

    @Test(arguments: [
        "Basic YWxpY2U6YWxpY2Ux", "basic  YWxpY2U6YWxpY2Ux", "BASIC YWxpY2U6YWxpY2Ux\r\n",
        "Basic YWxpY2U6YWxpY2UxDQo=", "Basic YWxpY2U6YWxpY2UxDQ==", "Basic YWxpY2U6YWxpY2UxDQ",
        "Basic YWxp\r\n Y2U6YWxpY2Ux",
    ])
    func lineEndsInAndAroundTheBase64AreForgiven(field: String) async throws {
        let fixture = try await Fixture()
        #expect(await fixture.ask(.post, somewhere, fields: ["authorization": field]).status == .ok)
    }

    @Test(arguments: ["Basic", "Basic !!!", "Basic YWxpY2U=", "Digest x", "Basic /////w==", "", "Bearer", "Bearer x"])
    func unreadableInputIsRefused(field: String) async throws {
        let fixture = try await Fixture()
        let response = await fixture.ask(.post, somewhere, fields: ["authorization": field])
        #expect(response.status == .unauthorized)
        #expect(response.fields["www-authenticate"] != nil)
    }

    @Test func twoAuthorizationsAreNone() async throws {
        let fixture = try await Fixture()
        var fields: HTTPFields = ["authorization": fixture.basic("alice", "alice1")]
        fields.append(HTTPField("authorization", fixture.basic("bob", "bob1")))
        #expect(await fixture.ask(.post, somewhere, fields: fields).status == .unauthorized)
    }

    @Test func aPasswordMayHaveColonsAndAnyScript() async throws {
        let fixture = try await Fixture()
        try await fixture.users.add("dora", password: "a:b:ñ 🔑")
        let right: HTTPFields = ["authorization": fixture.basic("dora", "a:b:ñ 🔑")]
        let wrong: HTTPFields = ["authorization": fixture.basic("dora", "a")]
        #expect(await fixture.ask(.post, somewhere, fields: right).status == .ok)
        #expect(await fixture.ask(.post, somewhere, fields: wrong).status == .unauthorized)
    }

    @Test func anUnknownUserIsRefusedAsAWrongPasswordIs() async throws {
        let fixture = try await Fixture()
        let unknown = await fixture.ask(.post, somewhere, fields: ["authorization": fixture.basic("nobody", "x")])
        let wrong = await fixture.ask(.post, somewhere, fields: ["authorization": fixture.basic("alice", "x")])
        let odd = await fixture.ask(.post, somewhere, fields: ["authorization": fixture.basic("no body", "x")])
        #expect(unknown.status == .unauthorized)
        #expect(unknown.bytes == wrong.bytes)
        #expect(unknown.bytes == odd.bytes)
        #expect(unknown.fields == wrong.fields)
    }

    @Test func aChangedPasswordEndsTheOldOneAtOnce() async throws {
        let fixture = try await Fixture()
        #expect(await fixture.ask(.post, somewhere, as: "alice").status == .ok)
        try await fixture.users.add("alice", password: "other")
        #expect(await fixture.ask(.post, somewhere, as: "alice").status == .unauthorized)
    }

    @Test func aRemovedUserIsOutAtOnce() async throws {
        let fixture = try await Fixture()
        #expect(await fixture.ask(.post, somewhere, as: "alice").status == .ok)
        try await fixture.removal.remove("alice")
        #expect(await fixture.ask(.post, somewhere, as: "alice").status == .unauthorized)
    }

    @Test func guessingIsSlowedDownAndSaysForHowLong() async throws {
        let fixture = try await Fixture()
        for _ in 0..<5 {
            let wrong = await fixture.ask(.post, somewhere, fields: ["authorization": fixture.basic("alice", "x")])
            #expect(wrong.status == .unauthorized)
        }
        #expect(fixture.slowedDown.networks.isEmpty)
        let refused = await fixture.ask(.post, somewhere, as: "alice")
        #expect(refused.status == .tooManyRequests)
        #expect(fixture.slowedDown.networks == ["192.0.2.0/24"])
        let wait = try #require(refused.fields["retry-after"].flatMap { Int64($0) })
        fixture.time.advance(by: .seconds(wait))
        #expect(await fixture.ask(.post, somewhere, as: "alice").status == .ok)
    }

    @Test func strangersCannotLockAUserOut() async throws {
        let fixture = try await Fixture()
        for stranger in 0..<200 {
            for _ in 0..<3 {
                _ = await fixture.ask(
                    .post, somewhere, fields: ["authorization": fixture.basic("alice", "x")],
                    peer: "198.51.100.\(stranger)")
            }
        }
        #expect(await fixture.ask(.post, somewhere, as: "alice", peer: "192.0.2.7").status == .ok)
    }

    /// Asks with guesses that are all different.
    /// - Returns: The statuses of the answers.
    private func guess(
        _ count: Int, _ fixture: Fixture, _ word: String = "guess", from peer: String = "192.0.2.1"
    ) async -> [HTTPStatus] {
        var statuses: [HTTPStatus] = []
        for number in 0..<count {
            let wrong: HTTPFields = ["authorization": fixture.basic("alice", "\(word)\(number)")]
            statuses.append(await fixture.ask(.post, somewhere, fields: wrong, peer: peer).status)
        }
        return statuses
    }

    @Test(arguments: ["203.0.113.5", "2001:db8:1:2::5"])
    func aNetworkThatHasUsedUpItsAttemptsIsNotToldTheRightPasswordOfAUserWhoIsActiveElsewhere(
        attacker: String
    ) async throws {
        let fixture = try await Fixture()
        #expect(await fixture.ask(.post, somewhere, as: "alice", peer: "192.0.2.61").status == .ok)
        #expect(await guess(5, fixture, from: attacker).allSatisfy { $0 == .unauthorized })
        #expect(await guess(1, fixture, from: attacker) == [.tooManyRequests])
        #expect(await fixture.ask(.post, somewhere, as: "alice", peer: attacker).status == .tooManyRequests)
        let body = #"{"user":"alice","password":"alice1"}"#
        #expect(await fixture.ask(.post, "/api/sessions", body, peer: attacker).status == .tooManyRequests)
        #expect(await fixture.ask(.post, somewhere, as: "alice", peer: "192.0.2.61").status == .ok)
    }

    @Test func guessesBehindTheAddressOfAUserAreLimitedWhileTheUserIsActive() async throws {
        let fixture = try await Fixture()
        let session = await fixture.ask(.post, "/api/sessions", #"{"user":"alice","password":"alice1"}"#)
        let token: HTTPFields = ["authorization": "Bearer " + (try session.json["token"]?.string ?? "")]
        #expect(await guess(10, fixture, "one").allSatisfy { $0 == .unauthorized })
        // The user's own requests neither count nor make guesses forgotten.
        for _ in 0..<50 { #expect(await fixture.ask(.post, somewhere, as: "alice").status == .ok) }
        #expect(await guess(10, fixture, "two").allSatisfy { $0 == .unauthorized })
        #expect(await guess(10, fixture, "three").allSatisfy { $0 == .tooManyRequests })
        let refused = await fixture.ask(.post, somewhere, as: "alice")
        #expect(refused.status == .tooManyRequests)
        #expect(await fixture.ask(.post, somewhere, fields: token).status == .ok)
        #expect(await fixture.ask(.post, somewhere, as: "bob").status == .ok)
        let wait = try #require(refused.fields["retry-after"].flatMap { Int64($0) })
        fixture.time.advance(by: .seconds(wait))
        #expect(await fixture.ask(.post, somewhere, as: "alice").status == .ok)
    }

    @Test func aDeviceThatRepeatsAFormerPasswordDoesNotShutOutTheOthersBehindItsAddress() async throws {
        let fixture = try await Fixture()
        #expect(await fixture.ask(.post, somewhere, as: "alice").status == .ok)
        for _ in 0..<50 {
            let former: HTTPFields = ["authorization": fixture.basic("alice", "former")]
            #expect(await fixture.ask(.post, somewhere, fields: former).status == .unauthorized)
        }
        #expect(await fixture.ask(.post, somewhere, as: "alice").status == .ok)
        // A password that was wrong and then becomes the right one is accepted.
        try await fixture.users.add("alice", password: "former")
        let now: HTTPFields = ["authorization": fixture.basic("alice", "former")]
        #expect(await fixture.ask(.post, somewhere, fields: now).status == .ok)
    }

    @Test func manyRequestsAtOnceWithTheRightPasswordAreOneAttempt() async throws {
        let fixture = try await Fixture()
        let statuses = await withTaskGroup(of: HTTPStatus.self) { group in
            for _ in 0..<64 {
                group.addTask { await fixture.ask(.post, somewhere, as: "alice").status }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.allSatisfy { $0 == .ok })
    }

    @Test func aFullQueueOfPasswordsIsRefusedAndNotCounted() async throws {
        let fixture = try await Fixture(hashing: Argon2idQueue())
        let full = try Backend(
            users: UserDirectory(
                store: fixture.storage, time: fixture.time, hashing: Argon2idQueue(threadLimit: 0, waitingLimit: 0)),
            devices: .init(store: fixture.storage, platforms: fixture.platforms, time: fixture.time),
            intake: .init(store: fixture.storage, platforms: fixture.platforms, time: fixture.time) { _ in },
            keys: fixture.storage, payloads: fixture.storage, bodies: fixture.storage.payloadBodies,
            receipts: fixture.storage, sends: fixture.storage, platforms: fixture.platforms,
            hub: BackendHub(fixture.hubs), time: fixture.time
        ).makeHandler()
        let request = HTTPRequest(.post, somewhere, fields: ["authorization": fixture.basic("alice", "alice1")])
        for _ in 0..<20 {
            let response = await full.respond(to: request)
            #expect(response.status == .serviceUnavailable)
            #expect(response.fields["retry-after"] == "1")
        }
    }

    @Test func aFloodFromOneNetworkLeavesOthersServed() async throws {
        let hashing = Argon2idQueue(threadLimit: 1, waitingLimit: 4)
        let fixture = try await Fixture(hashing: hashing)
        let (started, signal) = AsyncStream.makeStream(of: Void.self)
        let held = DispatchSemaphore(value: 0)
        let holding = Task {
            await hashing.perform {
                signal.yield()
                held.wait()
            }
        }
        for await _ in started { break }
        await withTaskGroup(of: HTTPStatus.self) { group in
            for host in 1...20 {
                let wrong: HTTPFields = ["authorization": fixture.basic("user\(host)", "x")]
                group.addTask {
                    await fixture.ask(.post, somewhere, fields: wrong, peer: "198.51.100.\(host)").status
                }
            }
            // Four wait, in a queue that is full now.
            for _ in 0..<16 { #expect(await group.next() == .serviceUnavailable) }
            async let other = fixture.ask(.post, somewhere, as: "alice", peer: "203.0.113.9").status
            // The one whose room the other has taken.
            #expect(await group.next() == .serviceUnavailable)
            held.signal()
            #expect(await other == .ok)
            for _ in 0..<3 { #expect(await group.next() == .unauthorized) }
        }
        _ = await holding.value
    }
}
