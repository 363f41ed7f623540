import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletCore

/// Jobs whose storage does not answer for a while.
struct JobPatienceTests {
    private static let start = Timestamp(seconds: 1_700_000_000)

    @Test func theWaitDoublesAndAJobFailsAfterAQuarterOfAnHourWithoutProgress() {
        var (patience, now, waits) = (JobPatience(), Self.start, [Int64]())
        while let next = patience.fail(at: now, JobCursor()) {
            waits.append((next - now).components.seconds)
            now = next
        }
        #expect(waits.prefix(7) == [1, 2, 4, 8, 16, 30, 30])
        #expect(patience.isOver)
        #expect(now - Self.start >= JobPatience.limit)
        #expect(now - Self.start < JobPatience.limit + .seconds(30))
    }

    @Test func progressBeginsTheWaitAnewAndAClockThatIsSetBackDoesNoHarm() {
        var patience = JobPatience()
        var cursor = JobCursor()
        _ = patience.fail(at: Self.start, cursor)
        #expect(patience.fail(at: Self.start + .seconds(899), cursor) == Self.start + .seconds(901))
        cursor.line = 1
        let later = Self.start + .seconds(900)
        #expect(patience.fail(at: later, cursor) == later + .seconds(1))
        #expect(patience.fail(at: Self.start, cursor) == Self.start + .seconds(2))
        #expect(patience.fail(at: Self.start + .seconds(900), cursor) == nil)
    }

    /// Applies the lines of an import of `loft1` … `loft5`, against a storage that fails some of the calls.
    /// - Parameter records: What happens to the first calls of `record`.
    private func run(
        _ faults: [Fault], records: [Fault] = []
    ) async throws -> (job: Job, handles: [String], output: String) {
        let (storage, containers, time) = (MemoryStorage(), MemoryContainers(), ManualTimeSource(Self.start))
        let hub = try #require(
            try await storage.createHub(name: "shop", settings: HubSettings(), at: Self.start)
        ).id
        let container = try #require(ContainerName("jobs"))
        _ = containers.createContainer(container)
        let input = BlobAddress(container, try #require(BlobName("in.txt")))
        let upload = try containers.upload(input, .fresh)
        try await upload.write(Array((1...5).map { "loft\($0)\n" }.joined().utf8))
        _ = try await upload.commit(.none)
        let job = Job(
            id: "1", hub: hub, kind: .importCreate, outputURL: "https://h/out?sig=1", output: container,
            directory: try #require(BlobName("shop/1")), input: Job.Input(url: "https://h/in?sig=2", address: input),
            createdAt: Self.start)
        let jobs = FaultyJobs(store: storage, faults, records: records)
        let runner = JobRunner(
            jobs: jobs, devices: storage, containers: containers, lines: PlainLines(), time: time)
        let running = Task { await runner.run() }
        defer { running.cancel() }
        try await runner.accept(job)
        while !runner.isIdle {
            if let next = time.nextWake { time.advance(to: next) }
            await Task.yield()
        }
        let query = RegistrationQuery(hub: hub, filter: .all, after: nil, limit: 100, now: Self.start)
        let handles = try await storage.registrations(query).registrations.map(\.handle.text).sorted()
        let output = try? containers.openBlob(BlobAddress(container, try #require(BlobName("shop/1/Output.txt"))))
        let bytes = try await output?.read(at: 0, count: 1000) ?? []
        return (try #require(try await storage.job("1", in: hub)), handles, String(decoding: bytes, as: UTF8.self))
    }

    @Test(arguments: [
        [Fault.refused], [.unanswered], [.passed, .refused, .refused, .unanswered, .refused],
        Array(repeating: .refused, count: 20), [.passed, .unanswered, .passed, .unanswered, .unanswered],
    ])
    func anImportGoesOnWhenTheStorageAnswersAgainAndNoLineIsLostOrDoneTwice(_ faults: [Fault]) async throws {
        let (job, handles, output) = try await run(faults)
        #expect(job.status == .completed)
        #expect(job.failure == nil)
        #expect(handles == (1...5).map { "loft\($0)" })
        #expect(output.split(separator: "\n").map { $0.prefix(2) } == ["1\t", "2\t", "3\t", "4\t", "5\t"])
    }

    @Test func aJobWhoseStorageDoesNotAnswerForTooLongFailsWithTheReason() async throws {
        let (job, handles, output) = try await run([.passed] + Array(repeating: .refused, count: 60))
        #expect(job.status == .failed)
        #expect(job.failure == "The database did not answer in time.")
        #expect(handles == ["loft1", "loft2"])
        #expect(
            output.split(separator: "\n").map { $0.prefix(2) } == ["1\t", "2\t"],
            "it keeps the files of what it has done")
    }

    @Test func theEndOfAJobIsStoredWheneverTheStorageAnswersAgain() async throws {
        let refusals = Array(repeating: Fault.refused, count: 60)
        let (job, _, output) = try await run([.passed] + refusals, records: refusals)
        #expect(job.status == .failed)
        #expect(job.failure == "The database did not answer in time.")
        #expect(output.split(separator: "\n").count == 2)
    }

    @Test func aJobThatHasDoneItsWorkDoesNotFailBecauseItsEndCannotBeStored() async throws {
        let (job, handles, output) = try await run([], records: [.passed] + Array(repeating: .refused, count: 60))
        #expect(job.status == .completed)
        #expect(job.failure == nil)
        #expect(handles == (1...5).map { "loft\($0)" })
        #expect(output.split(separator: "\n").count == 5)
    }

    @Test func aJobWhoseEndIsNotStoredTakesThePlaceOfNoOther() throws {
        let jobs = try ["1", "2"].map { id in
            JobProgress(
                job: Job(
                    id: id, hub: Hub.ID(rawValue: 1), kind: .export, outputURL: "https://h/out?sig=1",
                    output: try #require(ContainerName("jobs")), directory: try #require(BlobName("shop/\(id)")),
                    input: nil, createdAt: Self.start))
        }
        var queue = JobQueue(limit: 1)
        for job in jobs { queue.add(job) }
        #expect(queue.next()?.job.id == "1")
        #expect(queue.next()?.job.id == nil)
        queue.beginEnding(jobs[0])
        #expect(queue.next()?.job.id == "2")
        queue.finished(jobs[0])
        queue.add(jobs[0])
        #expect(queue.next()?.job.id == nil, "the second is still running")
        queue.finished(jobs[1])
        #expect(queue.next()?.job.id == "1")
        queue.beginEnding(jobs[0])
        #expect(!queue.isEmpty)
        queue.finished(jobs[0])
        #expect(queue.isEmpty)
    }
}

/// What happens to a write of a job.
enum Fault: Sendable {
    case passed
    /// The write is not stored.
    case refused
    /// The write is stored, but nobody says so.
    case unanswered
}

/// A store of jobs that fails the first writes.
private struct FaultyJobs: JobStore {
    let store: MemoryStorage
    private let faults: FaultList
    private let records: FaultList

    init(store: MemoryStorage, _ faults: [Fault], records: [Fault]) {
        self.store = store
        self.faults = FaultList(faults)
        self.records = FaultList(records)
    }

    private static let late = StorageError(.unavailable, "The database did not answer in time.")

    func createJob(_ job: Job) async throws(StorageError) { try await store.createJob(job) }
    func job(_ id: String, in hub: Hub.ID) async throws(StorageError) -> Job? { try await store.job(id, in: hub) }
    func jobs(in hub: Hub.ID, limit: Int) async throws(StorageError) -> [Job] {
        try await store.jobs(in: hub, limit: limit)
    }
    func unfinishedJobs() async throws(StorageError) -> [JobProgress] { try await store.unfinishedJobs() }

    func record(_ progress: JobProgress) async throws(StorageError) -> Bool {
        let fault = records.next()
        if fault == .refused { throw Self.late }
        let isThere = try await store.record(progress)
        if fault == .unanswered { throw Self.late }
        return isThere
    }

    func apply(
        _ changes: [RegistrationChange], of job: String, in hub: Hub.ID, after line: Int64, at now: Timestamp,
        _ progress: @escaping @Sendable ([Result<Registration, RegistrationRefusal>]) -> JobProgress
    ) async throws(StorageError) -> JobProgress? {
        let fault = faults.next()
        if fault == .refused { throw Self.late }
        let reached = try await store.apply(changes, of: job, in: hub, after: line, at: now, progress)
        if fault == .unanswered { throw Self.late }
        return reached
    }

    func registrationCount(in hub: Hub.ID) async throws(StorageError) -> Int64 {
        try await store.registrationCount(in: hub)
    }
}

private final class FaultList: Sendable {
    private let faults: Mutex<[Fault]>

    init(_ faults: [Fault]) {
        self.faults = Mutex(faults.reversed())
    }

    func next() -> Fault { faults.withLock { $0.popLast() ?? .passed } }
}

/// Lines that are handles. Each line that is read gets an id of its own, so that a line that is done twice shows.
private final class PlainLines: JobLines {
    private let last = Mutex(0)
    let lengthLimit = 100

    func change(_ line: [UInt8], _ kind: Job.Kind, in hub: Hub.ID) throws(JobLineError) -> RegistrationChange {
        let handle = String(decoding: line, as: UTF8.self)
        let id = last.withLock { last in
            last += 1
            return "r\(last)"
        }
        return .put(
            RegistrationDraft(
                platform: CarrierPigeon.platform, handle: PushHandle(handle), handleKey: handle, tags: []), id: id,
            condition: .none)
    }

    func line(_ registration: Registration) -> [UInt8]? { nil }
}
