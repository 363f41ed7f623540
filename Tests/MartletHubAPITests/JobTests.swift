import Foundation
import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletHubAPI

/// Jobs from the request to the files, on storage in memory.
struct JobTests {
    private let fixture: HubFixture
    private let container: ContainerName
    private let running = RunningJobs()

    init() async throws {
        fixture = try await HubFixture()
        container = try #require(ContainerName("jobs"))
        _ = fixture.store.createContainer(container)
    }

    private func put(_ name: String, _ text: String) async throws {
        let upload = try fixture.store.upload(BlobAddress(container, try #require(BlobName(name))), .fresh)
        try await upload.write(Array(text.utf8))
        _ = try await upload.commit(.none)
    }

    private func text(_ name: String) async throws -> String {
        let content = try fixture.store.openBlob(BlobAddress(container, try #require(BlobName(name))))
        return String(decoding: try await content.read(at: 0, count: 1 << 24), as: UTF8.self)
    }

    /// Posts a job, runs it to its end and gives back its entry.
    private func run(_ type: String, _ lines: String? = nil) async throws -> HTTPResponse {
        var input = ""
        if let lines {
            try await put("in.txt", lines)
            input = "<ImportFileUri>\(try fixture.signedURL("in.txt").escaped)</ImportFileUri>"
        }
        let output = try fixture.signedURL().escaped
        let posted = try await fixture.send(
            .post, "/demo/jobs",
            body: "<NotificationHubJob><Type>\(type)</Type><OutputContainerUri>\(output)</OutputContainerUri>\(input)"
                + "</NotificationHubJob>")
        let id = try #require(posted.element("JobId"))
        return try await finish(id)
    }

    private func finish(_ id: String) async throws -> HTTPResponse {
        running.start(fixture.jobs)
        while true {
            let job = try await fixture.send(.get, "/demo/jobs/\(id)")
            if ["Completed", "Failed"].contains(job.element("Status")) { return job }
            await Task.yield()
        }
    }

    private func line(_ loft: String, _ extra: String = "") -> String {
        "<PigeonRegistrationDescription xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" "
            + "xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\">\(extra)<Loft>\(loft)</Loft>"
            + "</PigeonRegistrationDescription>"
    }

    @Test(arguments: ["localhost", "127.0.0.1", "127.8.9.10", "[::1]"])
    func aContainerOfThisMachineIsMeantByEachOfItsNames(host: String) throws {
        let url = try fixture.signedURL().replacing("hub.example:8443", with: "\(host):1")
        func location(at known: String) throws(HubAPIError) -> ContainerName {
            try StorageURL(
                url, "OutputContainerUri", needs: .write, hosts: [known], signer: fixture.signer,
                now: HubFixture.start
            ).container
        }
        for known in ["localhost", "127.0.0.1", "[::1]"] { #expect(try location(at: known) == container) }
        for known in ["hub.example", "127.0.0.1.example", "10.0.0.1"] {
            #expect(throws: HubAPIError.self) { try location(at: known) }
        }
    }

    @Test func anImportCreatesWhatItsLinesSayAndTellsOfEachByItsNumber() async throws {
        let id = "<RegistrationId>mine</RegistrationId>"
        let job = try await run(
            "ImportCreateRegistrations",
            "\u{FEFF}\(line("North1", id))\r\n\n\(line("", id))\nno xml\n\(line("North2", "<Tags>a,b</Tags>"))")
        #expect(job.element("Status") == "Completed")
        #expect(job.element("Progress") == "100.00")
        let directory = "demo/\(try #require(job.element("JobId")))"
        #expect(
            job.text.contains("<d3p1:Key>FailedFilePath</d3p1:Key><d3p1:Value>\(directory)/Failed.txt</d3p1:Value>"))
        let output = try await text("\(directory)/Output.txt").split(separator: "\n").map { $0.split(separator: "\t") }
        #expect(output.map { $0.prefix(2).map(String.init) } == [["1", "Created"], ["5", "Created"]])
        #expect(output.allSatisfy { $0[2] != "mine" })
        #expect(
            try await text("\(directory)/Failed.txt").split(separator: "\n").map { String($0.prefix(7)) }
                == ["3\tThe r", "4\tThe b"])
        #expect(try await fixture.send(.get, "/demo/registrations").count(of: "<entry") == 2)
        #expect(try await fixture.send(.get, "/demo/tags/B/registrations").count(of: "<entry") == 1)
    }

    @Test func updatesUpsertsAndDeletionsGoByTheId() async throws {
        try await fixture.register("North1", as: "1")
        try await fixture.register("North2", as: "2")
        func id(_ id: String, _ version: Int? = nil) -> String {
            (version.map { "<ETag>\($0)</ETag>" } ?? "") + "<RegistrationId>\(id)</RegistrationId>"
        }
        var job = try await run(
            "ImportUpdateRegistrations",
            [
                line("N1", id("1", 1)), line("N2", id("2", 9)), line("N3", id("3")), line("N4"), line("N5", id("2")),
                line("N6", "<ETag>x</ETag>" + id("2")),
            ].joined(separator: "\n"))
        var directory = "demo/\(try #require(job.element("JobId")))"
        #expect(try await text("\(directory)/Output.txt") == "1\tUpdated\t1\n5\tUpdated\t2\n")
        #expect(try await text("\(directory)/Failed.txt").split(separator: "\n").map(\.first) == ["2", "3", "4", "6"])

        job = try await run(
            "ImportUpsertRegistrations", [line("M1", id("1")), line("M3", id("3"))].joined(separator: "\n"))
        directory = "demo/\(try #require(job.element("JobId")))"
        #expect(try await text("\(directory)/Output.txt") == "1\tUpserted\t1\n2\tUpserted\t3\n")

        job = try await run("ImportDeleteRegistrations", "<X><RegistrationId>1</RegistrationId></X>\n<X/>\n")
        directory = "demo/\(try #require(job.element("JobId")))"
        #expect(try await text("\(directory)/Output.txt") == "1\tDeleted\t1\n")
        #expect(try await text("\(directory)/Failed.txt").hasPrefix("2\t"))
        #expect(try await fixture.send(.get, "/demo/registrations/1").status == .notFound)
    }

    @Test func anExportIsOneLineForEachRegistrationAndImportsAsTheSame() async throws {
        for number in 1...3 { try await fixture.register("North\(number)", as: "\(number)", tags: "a,b") }
        let template =
            "<AppleTemplateRegistrationDescription><DeviceToken>\(String(repeating: "AB", count: 32))</DeviceToken><BodyTemplate><![CDATA[{\n\"aps\":\n"
            + "{\"alert\":\"$(m)\"}}]]></BodyTemplate></AppleTemplateRegistrationDescription>"
        #expect(try await fixture.send(.put, "/demo/registrations/t", body: template).status == .ok)
        let job = try await run("ExportRegistrations")
        let directory = "demo/\(try #require(job.element("JobId")))"
        let exported = try await text("\(directory)/Output.txt")
        let lines = exported.split(separator: "\n")
        #expect(lines.count == 4)
        #expect(
            lines[0]
                == "<PigeonRegistrationDescription xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\"><ETag>1</ETag><ExpirationTime>9999-12-31T23:59:59.999Z</ExpirationTime><RegistrationId>1</RegistrationId><Tags>a,b</Tags><Loft>North1</Loft></PigeonRegistrationDescription>"
        )
        #expect(try await text("\(directory)/Failed.txt").isEmpty)
        _ = try await run("ImportUpsertRegistrations", exported)
        let again = try await run("ExportRegistrations")
        let second = try await text("demo/\(try #require(again.element("JobId")))/Output.txt")
        #expect(second.replacing("<ETag>2</ETag>", with: "<ETag>1</ETag>") == exported)
    }

    @Test("A hub that is exported and imported elsewhere is the same, installations included")
    func installationsSurviveAnImport() async throws {
        let source = try await JobTests()
        for (id, body) in Self.installations {
            #expect(try await source.fixture.send(.put, "/demo/installations/\(id)", body: body).status == .ok)
        }
        for number in 1...3 { try await source.fixture.register("North\(number)", as: "\(number)", tags: "a,b") }
        let exported = try await source.exported()
        #expect(exported.count == 13)

        for (kind, order) in [
            ("ImportUpsertRegistrations", exported), ("ImportCreateRegistrations", exported.reversed()),
            ("ImportUpsertRegistrations", exported + exported.reversed()),
        ] {
            let target = try await JobTests()
            let job = try await target.run(kind, order.joined(separator: "\n"))
            let directory = "demo/\(try #require(job.element("JobId")))"
            #expect(try await target.text("\(directory)/Failed.txt") == "")
            #expect(Self.comparable(try await target.exported()) == Self.comparable(exported))
            for (id, _) in Self.installations {
                let (old, new) = (
                    try await source.fixture.send(.get, "/demo/installations/\(id)"),
                    try await target.fixture.send(.get, "/demo/installations/\(id)")
                )
                #expect(new.status == .ok)
                #expect(try Self.sorted(new) == Self.sorted(old))
            }
            // The app writes its installation again: the device has each of its registrations once.
            for (id, body) in Self.installations {
                #expect(try await target.fixture.send(.put, "/demo/installations/\(id)", body: body).status == .ok)
            }
            #expect(Self.comparable(try await target.exported()) == Self.comparable(exported))
        }
    }

    private static let channel = "https://db5.notify.windows.com/?token=AwYAAAD"
    /// Templates with tags of their own and headers, a secondary tile with a channel of its own, odd names and tags, an
    /// end, and a browser's channel of three parts.
    private static let installations = [
        (
            "i-1",
            """
            {"installationId":"i-1","platform":"pigeon","pushChannel":"loft1","userId":"ann@example.org",\
            "tags":["a","b","x.y:z@_#-"],"pushVariables":{"name":"Ann <&> \\"x\\""},"templates":{\
            "news":{"body":"{\\"x\\":\\"$(m)\\"}","tags":["n"]},"t/~ 2":{"body":"{\\n}","tags":["own"]}}}
            """
        ),
        (
            "i-2",
            """
            {"installationId":"i-2","platform":"wns","pushChannel":"\(channel)1","tags":["a"],\
            "expirationTime":"2026-06-01T00:00:00Z","templates":{"toast":{"body":\
            "<toast><visual><binding template=\\"ToastText01\\"><text id=\\"1\\">$(m)</text></binding></visual></toast>",\
            "headers":{"X-WNS-Type":"wns/toast","X-WNS-TTL":"60"},"tags":["own"]}},\
            "secondaryTiles":{"tile/1":{"pushChannel":"\(channel)2","tags":["tiled"],"templates":{"wide":{"body":\
            "<tile><visual><binding template=\\"TileWideText01\\"><text id=\\"1\\">$(m)</text></binding></visual></tile>",\
            "headers":{"X-WNS-Type":"wns/tile"}}}}}}
            """
        ),
        (
            "i-3",
            """
            {"installationId":"i-3","platform":"apns","pushChannel":"\(String(repeating: "ab", count: 32))",\
            "templates":{"alert":{"body":"{\\"aps\\":{\\"alert\\":\\"$(m)\\"}}","expiry":"$(end)",\
            "headers":{"apns-priority":"5"}}}}
            """
        ),
        ("i-4", #"{"installationId":"i-4","platform":"pigeon","pushChannel":"loft1","tags":["c"]}"#),
    ]

    private func exported() async throws -> [String] {
        let job = try await run("ExportRegistrations")
        return try await text("demo/\(try #require(job.element("JobId")))/Output.txt").split(separator: "\n").map(
            String.init)
    }

    /// Lines without what only their own hub says, in an order of their own.
    private static func comparable(_ lines: [String]) -> [String] {
        lines.map {
            $0.replacing(#/<ETag>.*</ETag>/#, with: "").replacing(#/<RegistrationId>.*</RegistrationId>/#, with: "")
        }.sorted()
    }

    private static func sorted(_ response: HTTPResponse) throws -> String {
        let json = try JSONSerialization.jsonObject(with: Data(response.bytes))
        return String(
            decoding: try JSONSerialization.data(withJSONObject: json, options: .sortedKeys), as: UTF8.self)
    }

    @Test("A line that belongs to two installations, or a template of one without a name, fails with its reason")
    func linesOfInstallationsAreChecked() async throws {
        let two = "<Tags>$InstallationId:{a},$InstallationId:{b}</Tags>"
        let template =
            "<AppleTemplateRegistrationDescription><Tags>$InstallationId:{a}</Tags><DeviceToken>"
            + "\(String(repeating: "AB", count: 32))</DeviceToken><BodyTemplate><![CDATA[{\"aps\":{}}]]></BodyTemplate>"
            + "</AppleTemplateRegistrationDescription>"
        let other = template.replacing("<BodyTemplate", with: "<TemplateName>t</TemplateName><BodyTemplate")
        let job = try await run(
            "ImportCreateRegistrations",
            [
                line("N1", two), template, line("N2", "<Tags>$InstallationId:{a}</Tags>"), other,
                line("N3", "<Tags>x,$RegistrationId:{1}</Tags>"),
            ].joined(separator: "\n"))
        let directory = "demo/\(try #require(job.element("JobId")))"
        let failed = try await text("\(directory)/Failed.txt").split(separator: "\n")
        #expect(failed.map(\.first) == ["1", "2", "4"])
        #expect(failed[0].hasSuffix("The registration belongs to more than one installation."))
        #expect(failed[1].hasSuffix("The template of an installation needs a TemplateName."))
        #expect(failed[2].hasSuffix("The installation is of the platform 'pigeon', this part of 'apns'."))
        #expect(try await exported().last?.contains("<Tags>x</Tags>") == true)
    }

    @Test func aFileThatIsNotThereFailsTheJobWithASentence() async throws {
        let url = try fixture.signedURL("nowhere.txt").escaped
        let posted = try await fixture.send(
            .post, "/demo/jobs",
            body: "<NotificationHubJob><Type>ImportCreateRegistrations</Type><OutputContainerUri>"
                + "\(try fixture.signedURL().escaped)</OutputContainerUri><ImportFileUri>\(url)</ImportFileUri>"
                + "</NotificationHubJob>")
        let job = try await finish(try #require(posted.element("JobId")))
        #expect(job.element("Status") == "Failed")
        #expect(job.element("Failure") == "The file that the job reads is not there.")
    }

    @Test func aJobThatFailsHalfwayStillTellsWhatItHasDone() async throws {
        try await put("in.txt", line("North1"))
        let job = try makeImport("8")
        try await fixture.storage.createJob(job)
        var progress = JobProgress(job: job)
        progress.cursor.line = 1
        progress.cursor.inputTag = "\"of an earlier file\""
        progress.cursor.output = JobCursor.Written(pending: Array("1\tCreated\tx\n".utf8))
        try await fixture.storage.record(progress)
        try await fixture.jobs.resume()
        let failed = try await finish("8")
        #expect(failed.element("Status") == "Failed")
        #expect(failed.element("Failure") == "The file was replaced while the job was reading it.")
        #expect(failed.text.contains("<d3p1:Value>demo/8/Output.txt</d3p1:Value>"))
        #expect(try await text("demo/8/Output.txt") == "1\tCreated\tx\n")
        #expect(try await text("demo/8/Failed.txt").isEmpty)
    }

    private func makeImport(_ id: String) throws -> Job {
        Job(
            id: id, hub: fixture.hub.id, kind: .importCreate, outputURL: "https://h", output: container,
            directory: try #require(BlobName("demo/\(id)")),
            input: Job.Input(
                url: "https://h", address: BlobAddress(container, try #require(BlobName("in.txt")))),
            createdAt: HubFixture.start)
    }

    @Test func aJobGoesOnFromItsCursorWithoutALineLostOrDoneTwice() async throws {
        let lines = (1...5).map { line("North\($0)") + "\n" }
        try await put("in.txt", lines.joined())
        let address = BlobAddress(container, try #require(BlobName("in.txt")))
        let job = try makeImport("7")
        try await fixture.storage.createJob(job)
        // As a kill leaves it: two lines are done, of which the file has the first, and more that was never decided.
        let upload = try fixture.store.upload(
            BlobAddress(container, try #require(BlobName("demo/7/Output.txt"))), .resumable(key: "7-Output", at: 0))
        try await upload.write(Array("1\tCreated\tx\nlost".utf8))
        var progress = JobProgress(job: job)
        progress.cursor.inputOffset = Int64(lines[0].utf8.count + lines[1].utf8.count)
        progress.cursor.line = 2
        progress.cursor.inputTag = try fixture.store.openBlob(address).blob.entityTag
        progress.cursor.output = JobCursor.Written(bytes: 12, pending: Array("2\tCreated\ty\n".utf8))
        try await fixture.storage.record(progress)
        try await fixture.jobs.resume()
        #expect(try await finish("7").element("Status") == "Completed")
        let output = try await text("demo/7/Output.txt").split(separator: "\n")
        #expect(output.prefix(2) == ["1\tCreated\tx", "2\tCreated\ty"])
        #expect(output.map(\.first) == ["1", "2", "3", "4", "5"])
        #expect(try await fixture.send(.get, "/demo/registrations").count(of: "<entry") == 3)
    }

    @Test func aLineWithATemplateThatNoMessageCanBeMadeOfFailsWithTheReason() async throws {
        let template =
            "<PigeonTemplateRegistrationDescription><Loft>North1</Loft><BodyTemplate>{\"m\":\""
            + String(repeating: "x", count: 2000) + "\"}</BodyTemplate></PigeonTemplateRegistrationDescription>"
        let job = try await run("ImportCreateRegistrations", template + "\n" + line("North2") + "\n")
        let directory = "demo/\(try #require(job.element("JobId")))"
        #expect(try await text("\(directory)/Failed.txt").contains("constant part makes a payload of 2008 bytes"))
        #expect(try await text("\(directory)/Output.txt").hasPrefix("2\tCreated\t"))
    }

    @Test func aLineThatIsTooLongIsPassedOver() async throws {
        let job = try await run(
            "ImportCreateRegistrations", String(repeating: "x", count: 70_000) + "\n" + line("North1") + "\n")
        let directory = "demo/\(try #require(job.element("JobId")))"
        #expect(try await text("\(directory)/Failed.txt") == "1\tThe line has more than 65536 bytes.\n")
        #expect(try await text("\(directory)/Output.txt").hasPrefix("2\tCreated\t"))
    }
}

/// The runner at work, once, until the test is over.
private final class RunningJobs: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)

    func start(_ jobs: JobRunner) {
        task.withLock { task in
            if task == nil { task = Task { await jobs.run() } }
        }
    }

    deinit {
        task.withLock { $0?.cancel() }
    }
}

extension String {
    fileprivate var escaped: String { replacing("&", with: "&amp;") }
}
