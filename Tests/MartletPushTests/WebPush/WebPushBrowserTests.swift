import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

/// The simulator as the push service of a real browser: what Firefox says and is told, in its order.
struct WebPushBrowserTests {
    private static let channel = "e3e62e9a-95e9-4b04-9b93-c9ff0a1e7a0c"
    private static let now = WebPushFixture.now

    private var fixture: WebPushFixture

    init() throws {
        fixture = try WebPushFixture()
    }

    /// What is sent on a socket, as JSON, or the code that it is closed with.
    private mutating func say(_ text: String, on socket: UInt64 = 1, at now: Timestamp = now) throws -> [JSON] {
        try Self.read(fixture.simulator.receive(text, on: socket, at: now), on: socket)
    }

    private static func read(_ steps: [SocketStep], on socket: UInt64 = 1) throws -> [JSON] {
        try steps.filter { $0.socket == socket }.map { step in
            switch step.action {
            case .send(let text): try JSON(parsing: Array(text.utf8))
            case .close(let code): .integer(Int64(code))
            }
        }
    }

    private mutating func greet(_ id: String? = nil, on socket: UInt64 = 1, at now: Timestamp = now) throws -> [JSON] {
        let name = id.map { #","uaid":"\#($0)""# } ?? ""
        return try say(#"{"messageType":"hello","use_webpush":true,"broadcasts":{}\#(name)}"#, on: socket, at: now)
    }

    /// - Returns: The endpoint.
    private mutating func register(key: Bool = true) throws -> String {
        let point = key ? #","key":"\#(Base64URL.encode(try fixture.key().publicKey.rawPoint))=""# : ""
        let answer = try say(#"{"messageType":"register","channelID":"\#(Self.channel)"\#(point)}"#)
        #expect(answer.first?["status"] == 200 && answer.first?["channelID"] == .string(Self.channel))
        return answer.first?["pushEndpoint"]?.string ?? ""
    }

    /// Sends as the hub does.
    private mutating func push(
        to endpoint: String, _ fields: [String: String?] = [:], body: [UInt8]? = nil, at now: Timestamp = now
    ) throws -> SimulatedAnswer {
        let subscription: JSON = [
            "endpoint": .string(endpoint), "p256dh": .string(WebPushFixture.point),
            "auth": .string(WebPushFixture.secret),
        ]
        let handle = WebPush.handle(from: subscription.text)
        return fixture.simulator.answer(try fixture.request(fields, to: handle, body: body), at: now)
    }

    private mutating func acknowledge(_ version: JSON?, _ code: Int64 = 100) throws -> [JSON] {
        let update: JSON = ["channelID": .string(Self.channel), "version": version ?? .null, "code": .integer(code)]
        return try say(JSON.object(["messageType": "ack", "updates": .array([update])]).text)
    }

    private func waiting() -> Int? { fixture.simulator.connectedDevices.array?.first?["waiting"]?.array?.count }

    @Test mutating func aBrowserThatIsThereGetsWhatIsSentUntilItSaysSo() throws {
        let hello = try #require(try greet().first)
        #expect(hello["messageType"] == "hello" && hello["status"] == 200 && hello["use_webpush"] == true)
        let endpoint = try register()
        #expect(endpoint.hasPrefix("https://localhost:8443/wpush/v2/"))

        let request = try fixture.request(to: try fixture.subscribe()).body
        let answer = try push(to: endpoint, body: request)
        #expect(answer.response.status == .created)
        let message = try #require(try Self.read(answer.socketSteps).first)
        #expect(message["messageType"] == "notification" && message["channelID"] == .string(Self.channel))
        #expect(message["data"] == .string(Base64URL.encode(request)))
        #expect(message["headers"] == ["encoding": "aes128gcm"])
        #expect(waiting() == 1)
        #expect(try acknowledge(message["version"]) == [])
        #expect(waiting() == 0)
        #expect(fixture.simulator.devices[endpoint]?.inbox.map(\.text) == ["delivered"])
        #expect(fixture.simulator.counters["browser.ack.100"] == 1)
        #expect(fixture.simulator.counters["undecryptable"] == nil)
    }

    @Test mutating func anEmptyMessageHasNoData() throws {
        _ = try greet()
        let answer = try push(to: try register(), ["content-encoding": nil], body: [])
        let message = try #require(try Self.read(answer.socketSteps).first)
        #expect(message["version"] != nil && message["data"] == nil && message["headers"] == nil)
    }

    @Test mutating func undeliveredMessagesAreKeptByTTLAndTopic() throws {
        let id = try greet().first?["uaid"]?.string
        let endpoint = try register()
        fixture.simulator.socketClosed(1)
        for (ttl, topic) in [("0", nil), ("60", "scores"), ("5", nil), ("60", "scores")] as [(String, String?)] {
            let answer = try push(to: endpoint, ["ttl": ttl, "topic": topic])
            #expect(answer.response.status == .created && answer.socketSteps.isEmpty)
        }
        #expect(waiting() == 2)
        let said = try greet(id, on: 2, at: Self.now + .seconds(5))
        #expect(said.first?["uaid"]?.string == id)
        #expect(said.dropFirst().map { $0["version"] } == ["4"])
        // What was not acknowledged comes again.
        fixture.simulator.socketClosed(2)
        #expect(try greet(id, on: 3, at: Self.now + .seconds(6)).count == 2)
    }

    @Test mutating func aBrowserThatIsNotKnownGetsANewName() throws {
        let first = try greet("made-up", on: 1).first?["uaid"]?.string
        #expect(first != "made-up" && first?.isEmpty == false)
        #expect(try greet(first, on: 2).first?["uaid"]?.string == first)
        #expect(try greet(on: 3).first?["uaid"]?.string != first)
        #expect(fixture.simulator.sockets == [2, 3])
    }

    @Test mutating func theConnectionThatABrowserHadIsClosed() throws {
        let id = try greet(on: 1).first?["uaid"]?.string ?? ""
        let steps = fixture.simulator.receive(
            #"{"messageType":"hello","use_webpush":true,"uaid":"\#(id)"}"#, on: 2, at: Self.now)
        #expect(try Self.read(steps, on: 1) == [1000])
        fixture.simulator.socketClosed(1)
        #expect(fixture.simulator.sockets == [2])
    }

    @Test mutating func aSubscriptionThatIsGivenUpIsGone() throws {
        _ = try greet()
        let endpoint = try register()
        let answer = try say(#"{"messageType":"unregister","channelID":"\#(Self.channel)","code":201}"#)
        #expect(answer.first?["status"] == 200)
        #expect(try push(to: endpoint).response.status == .gone)
        #expect(fixture.simulator.counters["browser.unregister.201"] == 1)
        #expect(try register() != endpoint)
    }

    @Test mutating func anotherSendersKeyIsRefused() throws {
        _ = try greet()
        let proof = try WebPushFixture.proof(key: P256PrivateKey.generate())
        #expect(try push(to: try register(), ["authorization": proof]).response.status == .unauthorized)
        #expect(try push(to: try register(key: false), ["authorization": proof]).response.status == .created)
    }

    @Test mutating func theSameSubscriptionKeepsItsEndpoint() throws {
        _ = try greet()
        let endpoint = try register()
        #expect(try register() == endpoint)
        #expect(try register(key: false) != endpoint)
        #expect(fixture.simulator.devices[endpoint] != nil)
    }

    @Test mutating func pingsAreAnsweredAtAnyTime() throws {
        #expect(try say("{}") == [.object([:])])
        _ = try greet()
        #expect(try say(#"{"messageType":"ping"}"#) == [.object([:])])
        #expect(try say(#"{"messageType":"broadcast_subscribe","broadcasts":{}}"#) == [])
        #expect(try say(#"{"messageType":"nack","version":"1","code":302}"#) == [])
        #expect(fixture.simulator.counters["browser.nack.302"] == 1)
    }

    @Test(arguments: [
        "", "null", "[]", #"{"messageType":7}"#, #"{"messageType":"shout"}"#, #"{"no":"type"}"#,
        #"{"messageType":"register","channelID":"../../etc"}"#, #"{"messageType":"ack","updates":{}}"#,
        #"{"messageType":"hello"}"#,
    ])
    mutating func messagesThatNoBrowserSendsEndTheConnection(text: String) throws {
        _ = try greet()
        #expect(try say(text) == [1008])
    }

    @Test mutating func aBrowserWithoutHelloIsNotServed() throws {
        #expect(try say(#"{"messageType":"register","channelID":"\#(Self.channel)"}"#) == [1008])
    }

    @Test mutating func aKeyThatIsNoneIsRefused() throws {
        _ = try greet()
        let answer = try say(#"{"messageType":"register","channelID":"\#(Self.channel)","key":"AAAA"}"#)
        #expect(answer.first?["status"] == 400 && answer.first?["pushEndpoint"] == nil)
    }
}
