import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

/// Tokens that are for one kind of push alone.
struct APNsTokenKindTests {
    private static let start =
        #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"A","attributes":{},"alert":"x"}}"#
    private static let update = #"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#
    private static let alert = #"{"aps":{"alert":"x"}}"#

    /// The path of the request to a handle; nil where the handle is spared the message.
    private func path(_ handle: String, _ body: String, _ type: String? = nil) throws -> String? {
        let fields = type.map { ["apns-push-type": $0] } ?? [:]
        let service = type == "mdm" ? try APNsFixture.certificateService() : try APNsFixture.service()
        let message = APNsFixture.message(body, fields)
        var batch = RequestBatch(
            try service.shared(message, token: "jwt", expiry: APNsFixture.now, at: APNsFixture.now))
        do {
            try Array(handle.utf8).withUnsafeBufferPointer {
                try service.append($0, id: MessageID(high: 1, low: 2), message: message, to: &batch)
            }
        } catch let error as PushServiceError {
            #expect(error.kind == .unsuited)
            #expect(batch.count == 0)
            return nil
        }
        return batch.withPath(0) { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [
        ("pushtostart", start, true), ("pushtostart", update, false), ("pushtostart", alert, false),
        ("liveactivity", start, false), ("liveactivity", update, true), ("liveactivity", alert, false),
        ("alert", alert, true), ("alert", #"{"aps":{"content-available":1}}"#, true), ("alert", update, false),
        ("voip", alert, false), ("voip", start, false),
    ])
    func aTokenIsSparedWhatItIsNotFor(mark: String, body: String, isSent: Bool) throws {
        #expect(try path("\(mark):\(APNsFixture.token)", body) == (isSent ? APNsFixture.token : nil))
    }

    @Test(arguments: ["voip", "complication", "fileprovider", "mdm", "location", "pushtotalk", "widgets", "controls"])
    func everyTypeWithTokensOfItsOwnHasAMark(type: String) throws {
        let marked = "\(type):\(APNsFixture.token)"
        #expect(try path(marked, "{}", type) == APNsFixture.token)
        #expect(try path(marked, Self.alert) == nil)
    }

    @Test(arguments: [start, update, alert])
    func aTokenWithoutAMarkIsSentEverything(body: String) throws {
        #expect(try path(APNsFixture.token.uppercased(), body) == APNsFixture.token)
    }

    @Test func aMarkAndItsTokenCompareWithoutCase() throws {
        let handle = PushHandle("LiveActivity:" + APNsFixture.token.uppercased())
        #expect(try APNs.key(of: handle) == "liveactivity:" + APNsFixture.token)
        #expect(try path(handle.text, Self.update) == APNsFixture.token)
    }

    @Test func noMarkBeginsAsATokenDoes() {
        for kind in APNsTokenKind.allCases {
            #expect(!kind.rawValue.utf8.prefix(2).allSatisfy(APNs.isHexadecimal), "\(kind)")
        }
    }

    @Test(arguments: ["pager:", "badge:", ":", "live activity:"])
    func anUnknownMarkIsRefused(mark: String) throws {
        let error = try #require(throws: PushServiceError.self) {
            try APNs.key(of: PushHandle(mark + APNsFixture.token))
        }
        #expect(error.kind == .badHandle)
        #expect(error.description.contains("pushtostart:"))
    }

    @Test(arguments: ["liveactivity:", "liveactivity:abc", "liveactivity:zz", "liveactivity:voip:ab"])
    func aMarkNeedsAToken(text: String) {
        #expect(throws: PushServiceError.self) { try APNs.key(of: PushHandle(text)) }
    }
}
