import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletHubAPI

/// What push services refused, as telemetry and the container of feedback show it.
struct FeedbackTests {
    private let fixture: HubFixture

    init() async throws {
        fixture = try await HubFixture()
    }

    /// Sends to everybody, and lets the pushes of as many devices be refused.
    /// - Returns: The notification's id.
    private func refuse(_ count: Int) async throws -> String {
        let sent = try await fixture.send(
            .post, "/demo/messages", fields: ["servicebusnotification-format": "apple"], body: "{\"aps\":{}}")
        let delivery = try #require(try await fixture.storage.unfinished(after: .none, limit: 1000).last?.delivery)
        let refusals = (0..<count).map { number in
            Refusal(
                member: AudienceMember(channel: ChannelID(rawValue: Int64(number + 1))),
                handle: PushHandle(text: "h<\(number)>"), outcome: .badChannel, reason: "Gone",
                at: HubFixture.start)
        }
        try await fixture.storage.record(
            DeliveryStep(
                delivery: delivery.id, isFannedOut: true, state: .completed,
                counts: Dictionary(grouping: refusals, by: \.outcome).mapValues(\.count), refusals: refusals))
        let id = sent.fields["location"]?.split(separator: "/").last?.prefix(32)
        return String(try #require(id))
    }

    /// What is at a URL of this server, without a token.
    private func get(_ url: String) async throws -> HTTPResponse {
        let target = try #require(HTTPOrigin.splitting(url)).1
        return await fixture.router.respond(to: HTTPRequest(.get, target, authority: "hub.example:8443"))
    }

    private func text(of response: HTTPResponse) async throws -> String {
        guard case .stream(_, let write) = response.body else { return response.text }
        let writer = CollectedBody()
        try await write(writer)
        return String(decoding: await writer.bytes, as: UTF8.self)
    }

    private func errorsURL(_ details: HTTPResponse) -> String? {
        details.element("PnsErrorDetailsUri")?.replacing("&amp;", with: "&")
    }

    @Test func telemetryNamesAFileWithALineForEachRefusal() async throws {
        let id = try await refuse(3)
        let details = try await fixture.send(.get, "/demo/messages/\(id)?api-version=2020-06")
        let response = try await get(try #require(errorsURL(details)))
        #expect(response.status == .ok)
        let lines = try await text(of: response)
        #expect(lines.hasSuffix("\r\n"))
        #expect(lines.split(separator: "\r\n").count == 3)
        #expect(
            lines.split(separator: "\r\n").first
                == "<PnsFeedback xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\"><FeedbackTime>2026-01-01T00:00:00.000Z</FeedbackTime><NotificationSystemError>BadChannel</NotificationSystemError><Platform>apns</Platform><PnsHandle>h&lt;0&gt;</PnsHandle><RegistrationId></RegistrationId><InstallationId></InstallationId><NotificationId>\(id)</NotificationId><NewPnsHandle></NewPnsHandle></PnsFeedback>"
        )
    }

    @Test func whatWasNotRefusedAndWhoReadsByAnOldVersionHasNoFile() async throws {
        let fine = try await refuse(0)
        #expect(errorsURL(try await fixture.send(.get, "/demo/messages/\(fine)")) == nil)
        let refused = try await refuse(1)
        #expect(errorsURL(try await fixture.send(.get, "/demo/messages/\(refused)?api-version=2015-01")) == nil)
        #expect(errorsURL(try await fixture.send(.get, "/demo/messages/\(refused)?api-version=2016-07")) != nil)
        #expect(errorsURL(try await fixture.send(.get, "/demo/messages/\(refused)")) != nil)
    }

    @Test func theURLOfOneFileOpensNoOther() async throws {
        let (first, second) = (try await refuse(1), try await refuse(1))
        let url = try #require(errorsURL(try await fixture.send(.get, "/demo/messages/\(first)")))
        #expect(try await get(url.replacing(first, with: second)).status == .forbidden)
        fixture.time.advance(by: .seconds(86_401))
        #expect(try await get(url).status == .forbidden)
    }

    @Test func aFileIsWrittenPageByPageWithoutALineMissing() async throws {
        let id = try await refuse(1201)
        let url = try #require(errorsURL(try await fixture.send(.get, "/demo/messages/\(id)")))
        let lines = try await text(of: try await get(url)).split(separator: "\r\n")
        #expect(lines.count == 1201)
        #expect(Set(lines).count == 1201)
    }

    @Test func aContainerWithoutRefusalsIsEmptyAndHasNoFileOfAnUnknownNotification() async throws {
        let url = try await fixture.send(.get, "/demo/feedbackcontainer").text
        let list = try await get("\(url)&restype=container&comp=list")
        #expect(list.fields["content-type"] == "application/xml")
        #expect(list.fields["x-ms-request-id"] != nil)
        #expect(
            list.text
                == "<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ContainerName=\"demo/feedback\"><Blobs></Blobs><NextMarker></NextMarker></EnumerationResults>"
        )
        let file = url.replacing("?", with: "/00000000000000000000000000000000.txt?")
        #expect(try await get(file).element("Code") == "BlobNotFound")
        #expect(try await get(url.replacing("sig=", with: "sig=x")).status == .forbidden)
        #expect(try await get("\(url)&comp=list&prefix=x").status == .badRequest)
        #expect(try await get("\(url)&comp=list&maxresults=0").status == .badRequest)
    }

    @Test(arguments: ["sr", "sp", "se", "sig"]) func aSignatureThatSaysSomethingTwiceIsNone(name: String) async throws {
        let url = try await fixture.send(.get, "/demo/feedbackcontainer").text + "&restype=container&comp=list"
        #expect(try await get(url).status == .ok)
        let item = try #require(
            url.split(separator: "?").last?.split(separator: "&").first { $0.hasPrefix("\(name)=") })
        for other in [String(item), "\(name)=x", name.uppercased() + "=x", name] {
            for twice in ["\(url)&\(other)", url.replacing("?", with: "?\(other)&")] {
                let response = try await get(twice)
                #expect(response.status == .forbidden)
                #expect(response.text.contains("The URL has the parameter \(name) twice; a signature has it once."))
            }
        }
    }

    @Test func theContainerListsTheFilesInPages() async throws {
        var ids: [String] = []
        for _ in 0..<3 { ids.append(try await refuse(1)) }
        _ = try await refuse(0)
        let url = try await fixture.send(.get, "/demo/feedbackcontainer").text
        let first = try await get("\(url)&restype=container&comp=list&maxresults=2")
        #expect(first.count(of: "<Blob>") == 2)
        let marker = try #require(first.element("NextMarker"))
        let second = try await get("\(url)&restype=container&comp=list&maxresults=2&marker=\(marker)")
        #expect(second.count(of: "<Blob>") == 1)
        #expect(second.element("NextMarker") == "")
        for id in ids {
            #expect((first.text + second.text).contains("<Name>\(id).txt</Name>"))
            #expect(try await get(url.replacing("?", with: "/\(id).txt?")).status == .ok)
        }
    }
}

private actor CollectedBody: HTTPBodyWriter {
    private(set) var bytes: [UInt8] = []

    func write(_ bytes: [UInt8]) async throws { self.bytes += bytes }
}
