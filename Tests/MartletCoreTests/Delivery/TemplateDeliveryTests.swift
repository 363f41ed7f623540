import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

struct TemplateDeliveryTests {
    private let greeting = Template(body: #"{"say":"$(msg)"}"#)
    private let personal = Template(body: #"{"to":"$(name)","say":"$(msg)"}"#)

    @Test func everyTemplateRegistrationGetsItsOwnPayload() async throws {
        let flight = try await Flight()
        try await flight.register("native", id: "native")
        try await flight.register("a", id: "1", greeting)
        try await flight.register("b", id: "2", personal, variables: ["name": "Bo"])
        try await flight.register("a", id: "3", personal, variables: ["name": "An"])
        let delivery = try await flight.acceptTemplate()
        #expect(try await flight.run(delivery) == .finished)
        let sent = Set(flight.transport.sent.map { "\($0.loft) \($0.body)" })
        #expect(
            sent == [
                #"a {"say":"hi"}"#, #"b {"to":"Bo","say":"hi"}"#, #"a {"to":"An","say":"hi"}"#,
            ])
        #expect(flight.transport.batchCount == 1, "requests that differ in their bodies alone share a batch")
        #expect(Set(flight.transport.sent.map(\.id)).count == 3)
        let report = try await flight.report(delivery)
        #expect(report.state == .completed)
        #expect(report.counts == [.success: 3])
    }

    @Test func aVariablePerDeviceDoesNotMakeABatchPerDevice() async throws {
        let flight = try await Flight(pageSize: 2000)
        for number in 1...1500 {
            try await flight.register("l\(number)", id: "\(number)", personal, variables: ["name": "n\(number)"])
        }
        let delivery = try await flight.acceptTemplate()
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.sent.count == 1500)
        #expect(
            flight.transport.sent.allSatisfy { $0.body == #"{"to":"n\#($0.loft.dropFirst())","say":"hi"}"# })
        #expect(flight.transport.batchCount == 2, "the first page and the second")
    }

    @Test func messagesThatDifferAreNotAllInMemoryTogether() async throws {
        let flight = try await Flight(pageSize: 3000)
        let large = Template(body: #"{"to":"$(name)","text":"$(text)"}"#)
        for number in 1...2550 {
            try await flight.register("l\(number)", id: "\(number)", large, variables: ["name": "n\(number)"])
        }
        let text = String(repeating: "x", count: 900)
        let delivery = try await flight.acceptTemplate(#"{"text":"\#(text)"}"#)
        #expect(try await flight.run(delivery) == .finished)
        #expect(Set(flight.transport.lofts).count == 2550)
        #expect(flight.transport.sent.allSatisfy { $0.body.hasPrefix(#"{"to":"n\#($0.loft.dropFirst())""#) })
        // Two megabytes hold some thousand of them, each counted with its message and its body.
        #expect((4...5).contains(flight.transport.batchCount), "\(flight.transport.batchCount)")
    }

    /// A template of 60 KB whose messages are small, as no other.
    private func heavy(_ number: Int) -> Template {
        let fallback = String(repeating: "x", count: 60_000)
        return Template(body: #"{"m":"$(msg:{\#(fallback)})","n":"\#(number)"}"#)
    }

    @Test("Pages are short where memory is, and every device gets its push, at the first attempt or a later one")
    func pagesAreBoundedByBytes() async throws {
        var flight = try await Flight(pageSize: 100) { _, attempt in attempt == 1 ? answered(429) : answered(200) }
        let pageBytes = PageBytes(limit: 0)
        flight.deliverer = flight.makeDeliverer(pageBytes: pageBytes)
        for number in 1...30 { try await flight.register("l\(number)", id: "\(number)", heavy(number)) }
        let delivery = try await flight.acceptTemplate()
        guard case .waiting(let until) = try await flight.run(delivery) else {
            Issue.record("all are to be tried again")
            return
        }
        #expect(flight.transport.lofts.count == 30)
        #expect(flight.transport.batchCount >= 6, "\(flight.transport.batchCount)")
        let before = flight.transport.batchCount
        flight.time.advance(to: until + .seconds(60))
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.batchCount - before >= 6)
        #expect(try await flight.report(delivery).counts == [.success: 30])
        #expect(try await flight.refusals(delivery).isEmpty)
        #expect(pageBytes.inHand == 0)
        #expect(flight.deliverer.sender.templates.bytes <= 16 << 20)
    }

    @Test func templatesWithOtherHeadersGoInBatchesOfTheirOwn() async throws {
        let flight = try await Flight(pageSize: 10)
        func template(_ speed: String) -> Template {
            Template(body: greeting.body, headers: [Template.Header(name: "Pigeon-Speed", value: speed)])
        }
        for number in 1...3 {
            try await flight.register("fast\(number)", id: "f\(number)", template("$(speed)"))
            try await flight.register("slow\(number)", id: "s\(number)", template("slow"))
            try await flight.register("any\(number)", id: "a\(number)", template("$(missing)"))
        }
        let delivery = try await flight.acceptTemplate(#"{"msg":"hi","speed":"fast"}"#)
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.batchCount == 3)
        for sent in flight.transport.sent {
            let speed = sent.fields["pigeon-speed"]
            #expect(sent.loft.hasPrefix(speed ?? "any"))
        }
        #expect(try await flight.report(delivery).counts == [.success: 9])
    }

    @Test func aTemplateThatCannotBeRenderedAffectsOnlyItsOwnDevices() async throws {
        let flight = try await Flight(pageSize: 10)
        try await flight.register("good", id: "1", greeting)
        try await flight.register("count", id: "2", Template(body: ##"{"badge":"#(msg)"}"##))
        try await flight.register("broken", id: "3", Template(body: #"{"open":"#))
        try await flight.register(
            "large", id: "4", Template(body: #"{"fill":"\#(String(repeating: "x", count: 1000))"}"#))
        let delivery = try await flight.acceptTemplate()
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.lofts == ["good"])
        let report = try await flight.report(delivery)
        #expect(report.state == .completed)
        #expect(report.counts == [.success: 1, .invalidNotificationFormat: 2, .invalidNotificationSize: 1])
        let refusals = try await flight.refusals(delivery)
        #expect(refusals.map(\.registration) == ["2", "3", "4"])
        #expect(refusals[0].reason.contains("needs a number in the property 'msg'"))
        #expect(refusals[2].reason == "A pigeon carries at most 1000 bytes.")
    }

    @Test func aPayloadThatTheServiceFindsTooLargeSparesNoOtherTemplate() async throws {
        let flight = try await Flight(pageSize: 1) { loft, _ in loft.hasPrefix("big") ? answered(413) : answered(200) }
        try await flight.register("big", id: "1", personal, variables: ["name": "big"])
        try await flight.register("small", id: "2", greeting)
        let delivery = try await flight.acceptTemplate()
        #expect(try await flight.run(delivery) == .finished)
        #expect(try await flight.report(delivery).counts == [.success: 1, .invalidNotificationSize: 1])
    }

    @Test func aRetryRendersAgainWithWhatTheRegistrationIsByThen() async throws {
        let flight = try await Flight { _, attempt in
            attempt == 1 ? answered(429, ["retry-after": "10"]) : answered(200)
        }
        try await flight.register("a", id: "1", greeting)
        try await flight.register("b", id: "2", greeting)
        let delivery = try await flight.acceptTemplate()
        #expect(try await flight.run(delivery) == .waiting(until: flight.time.now + .seconds(10)))
        try await flight.register("a", id: "1", personal, variables: ["name": "An"])
        _ = try await flight.registry.delete("2", in: flight.hub)
        flight.time.advance(by: .seconds(10))
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.sent.last?.body == #"{"to":"An","say":"hi"}"#)
        #expect(try await flight.report(delivery).counts == [.success: 1, .channelThrottled: 1])
        #expect(Set(flight.transport.sent.map(\.id)).count == 2)
    }

    @Test func membersReachedByAnInterruptedRunAreNotSentToAgain() async throws {
        let flight = try await Flight(pageSize: 2)
        for number in 1...5 { try await flight.register("l\(number)", id: "\(number)", greeting) }
        let delivery = try await flight.acceptTemplate()
        let map = try flight.maps.map(for: delivery.id, through: delivery.lastNumber)
        map.insert(AudienceMember(channel: ChannelID(rawValue: 2), registration: 2))
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.lofts == ["l1", "l3", "l4", "l5"])
        #expect(try await flight.report(delivery).counts == [.success: 5])
    }

    @Test func aDeadHandleTakesAllItsRegistrationsWithIt() async throws {
        let flight = try await Flight(pageSize: 10) { loft, _ in loft == "dead" ? answered(404) : answered(200) }
        try await flight.register("dead", id: "1", greeting)
        try await flight.register("dead", id: "2", personal)
        try await flight.register("alive", id: "3", personal)
        let delivery = try await flight.acceptTemplate()
        #expect(try await flight.run(delivery) == .finished)
        #expect(try await flight.report(delivery).counts == [.success: 1, .badChannel: 2])
        #expect(try await flight.refusals(delivery).map(\.registration) == ["1", "2"])
        #expect(try await flight.registry.registrations(in: flight.hub, limit: 9).registrations.map(\.id) == ["3"])
    }

    @Test func aStormOverSeveralBatchesPausesThePlatformAndNobodyIsForgotten() async throws {
        let isStormy = Flag(true)
        let flight = try await Flight(pageSize: 10) { _, _ in isStormy.isOn ? answered(503) : answered(200) }
        for number in 1...4 {
            let speed = Template.Header(name: "pigeon-speed", value: "\(number)")
            try await flight.register("l\(number)", id: "\(number)", Template(body: "\"$(msg)\"", headers: [speed]))
        }
        let delivery = try await flight.acceptTemplate()
        guard case .paused(_, let until) = try await flight.run(delivery) else {
            Issue.record("a storm makes the delivery wait")
            return
        }
        #expect(flight.transport.batchCount == 4)
        #expect(flight.alarms.all.count == 1)
        isStormy.isOn = false
        flight.time.advance(to: until)
        #expect(try await flight.run(delivery) == .finished)
        #expect(try await flight.report(delivery).counts == [.success: 4])
    }

    @Test func onlyThePlatformThatIsSickWaits() async throws {
        let flight = try await Flight { _, _ in answered(403) }
        try await flight.register("a", id: "1", greeting)
        let bottle = RegistrationDraft(
            platform: MessageInABottle.platform, handle: PushHandle("Atlantic", "north"), handleKey: "Atlantic\nnorth",
            tags: [], template: greeting)
        _ = try await flight.storage.apply(.put(bottle, id: "2", condition: .none), in: flight.hub, at: flight.time.now)
            .get()
        let pigeons = try await flight.acceptTemplate()
        let all = try await flight.storage.unfinished(after: .none, limit: 10).map(\.delivery)
        #expect(all.map(\.platform) == [MessageInABottle.platform, CarrierPigeon.platform])
        guard case .paused = try await flight.run(pigeons) else {
            Issue.record("a bad credential makes the delivery wait")
            return
        }
        #expect(try await flight.run(all[0]) == .finished)
        let report = try await flight.storage.report(pigeons.notification.id, in: flight.hub)
        #expect(report?.state == .processing)
        #expect(report?.counts[MessageInABottle.platform] == [.noPushService: 1])
    }

    @Test func theOptionsOfATemplateBecomeTheFieldsThatThePlatformSays() {
        var descriptor = CarrierPigeon.descriptor
        descriptor.registration.templateElements = [
            .name, .option("Haste", field: "pigeon-haste", isAlwaysWritten: false),
            .option("Mood", field: "pigeon-mood", isAlwaysWritten: false),
        ]
        let rendered = RenderedTemplate(
            body: [1], headers: [Template.Header(name: "Pigeon-Name", value: "Bo")],
            options: ["Haste": "great", "Mood": "", "Other": "x"])
        #expect(Message(rendered, descriptor).fields == ["pigeon-haste": "great", "pigeon-name": "Bo"])
    }

    @Test("The memory of compiled templates is limited")
    func compiledTemplatesAreBoundedByBytes() throws {
        let templates = CompiledTemplates(byteLimit: 1 << 20)
        let shapes: [(Int64) -> String] = [
            { #"{"m\#($0)":"\#(String(repeating: "x", count: 60_000))"}"# },
            { #"{"m\#($0)":[\#(Array(repeating: #""""#, count: 20_000).joined(separator: ","))]}"# },
            { #"{"m\#($0)":["\#((0..<512).map { "$(p\($0))" }.joined(separator: #"",""#))"]}"# },
            { "no JSON \($0)" },
        ]
        for number in Int64(0)..<200 {
            let template = Template(body: shapes[Int(number) % shapes.count](number))
            let rendering = TemplateBinding(id: .init(template: number), template: template, variables: [:])
            if case .success(let compiled) = templates.template(of: rendering, on: CarrierPigeon.self) {
                #expect(compiled.memoryBytes < 4 * template.body.utf8.count + 300_000)
            }
            #expect(templates.bytes <= 1 << 20)
        }
        #expect(templates.bytes > 1 << 19)
    }

    @Test func moreTemplatesThanAreRememberedAreCompiledAgain() {
        let templates = CompiledTemplates(byteLimit: 2000)
        for number in [1, 2, 3, 1, 2] as [Int64] {
            let rendering = TemplateBinding(
                id: .init(template: number), template: Template(body: "\(number)"), variables: [:])
            let compiled = templates.template(of: rendering, on: CarrierPigeon.self)
            #expect((try? compiled.get().render(TemplateProperties()).body) == Array("\(number)".utf8))
        }
    }
}
