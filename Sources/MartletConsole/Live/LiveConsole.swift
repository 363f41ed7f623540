import MartletCore
import MartletHTTP
import MartletModel
import Synchronization

/// Samples the server, keeps the history for charts, and sends changes to the open streams.
final class LiveConsole: Sendable {
    private struct State {
        var history = MetricHistory()
        var alerts: [Alert] = []
        /// The held sends of each hub, as they were last read.
        var held: [String: [JSON]] = [:]
        /// The state of each topic that was last sent to the streams.
        var told: [Topic: JSON] = [:]
        var tick = 0
    }

    private let facts: any ConsoleFacts
    private let hours: any MetricHourStore
    private let directory: OperatorDirectory
    private let door: AdministrationDoor
    private let time: any TimeSource
    private let log: @Sendable (String) -> Void
    private let state = Mutex(State())
    let streams = EventStreams()

    /// The number of seconds between two samples of the server while no page is open.
    private static let idleTicks = 10
    private static let commentTicks = 15
    /// The number of seconds between two events that change only facts of alerts, and between two reads of held sends.
    private static let factTicks = 5
    /// The age from which a sample is no longer shown as the current state.
    private static let staleAge = Duration.seconds(2)
    /// The maximum number of topics that are read in one tick.
    ///
    /// Further topics are read in the next ticks.
    private static let topicLimit = 32

    init(
        facts: any ConsoleFacts, hours: any MetricHourStore, directory: OperatorDirectory, door: AdministrationDoor,
        time: any TimeSource, log: @escaping @Sendable (String) -> Void
    ) {
        self.facts = facts
        self.hours = hours
        self.directory = directory
        self.door = door
        self.time = time
        self.log = log
    }

    /// Samples the server once a second, or less often while no page is open, until the task is cancelled. Then ends
    /// the streams.
    func run() async {
        await withTaskCancellationHandler {
            await restore()
            while !Task.isCancelled {
                await tick()
                try? await time.sleep(until: time.now + .seconds(1))
            }
        } onCancel: {
            streams.stop()
        }
    }

    private func restore() async {
        let since = Timestamp(milliseconds: time.now.milliseconds - 35 * 86_400_000)
        do throws(StorageError) {
            let known = try await hours.hours(since: since)
            state.withLock { state in
                for (at, text) in known {
                    let members = (try? JSON(parsing: Array(text.utf8)))?.object ?? [:]
                    state.history.restore(MetricHistory.Hour(at: at, figures: members.compactMapValues(\.number)))
                }
            }
        } catch {
            log("The console's figures of earlier hours could not be read: \(error)")
        }
    }

    private func tick() async {
        let isWatched = !streams.isEmpty
        let tick = state.withLock { state in
            state.tick += 1
            return state.tick
        }
        guard isWatched || (tick % Self.idleTicks == 1 && !directory.isEmpty) else { return }
        await sample()
        guard isWatched else { return }
        await endExpired()
        tellNow()
        await tellSends(tick)
        if tick % Self.commentTicks == 0 {
            for entry in streams.all { entry.mailbox.post("comment", ServerSentEvent.comment) }
        }
    }

    private func sample() async {
        let sample = await facts.sample()
        let hour = state.withLock { $0.history.add(sample) }
        guard let hour else { return }
        let figures = JSON.object(hour.figures.mapValues(JSON.double)).text
        do throws(StorageError) {
            try await hours.putHour(hour.at, figures: figures)
        } catch {
            log("The console's figures of an hour could not be stored: \(error)")
        }
    }

    // MARK: Documents

    /// Returns the current alerts as JSON.
    ///
    /// Alerts about hubs for which the operator has no role are left out.
    func alerts(for roles: RoleGrants) async -> JSON {
        let latest = state.withLock { $0.history.latest?.at }
        if latest.map({ time.now - $0 > Self.staleAge }) ?? true { await sample() }
        return state.withLock { Self.json($0.history, Self.visible(Self.alerts($0.history), to: roles)) }
    }

    func history(_ range: MetricHistory.Range) -> JSON { state.withLock { $0.history.json(range) } }

    /// Returns the current state of topics as JSON. An event stream begins with this document.
    func past(_ topics: [Topic], for roles: RoleGrants) async -> JSON {
        var members = await alerts(for: roles).object ?? [:]
        var sends: [String: JSON] = [:]
        var single: [String: [String: JSON]] = [:]
        for topic in topics {
            switch topic {
            case .now:
                members["second"] = state.withLock { $0.history.secondJSON }
                members["history"] = history(.minutes)
            case .sends(let hub): sends[hub] = await read(topic) ?? .null
            case .send(let hub, let id): single[hub, default: [:]][id] = await read(topic) ?? .null
            }
        }
        members["sends"] = .object(sends)
        members["send"] = .object(single.mapValues(JSON.object))
        return .object(members)
    }

    private static func alerts(_ history: MetricHistory) -> [Alert] {
        AlertRules(history.latest, recent: history.recent)?.alerts ?? []
    }

    /// The maximum number of alerts with the same code that an operator sees. There may be thousands of hubs.
    private static let alertLimit = 20

    private static func visible(_ alerts: [Alert], to roles: RoleGrants) -> [Alert] {
        var counts: [String: Int] = [:]
        return alerts.filter { alert in
            let isWithheld = alert.needsAllHubs && roles.overall == nil
            guard !isWithheld, alert.hub.map({ roles.role(for: $0) != nil }) ?? true else { return false }
            counts[alert.code, default: 0] += 1
            return counts[alert.code, default: 0] <= alertLimit
        }
    }

    private static func json(_ history: MetricHistory, _ alerts: [Alert]) -> JSON {
        [
            "at": history.latest.map { .string($0.at.iso8601) } ?? .null, "state": .string(AlertRules.state(alerts)),
            "alerts": .array(alerts.map(\.json)),
        ]
    }

    // MARK: Sending changes to streams

    private func tellNow() {
        let (second, history, changed) = state.withLock { state in
            let alerts = Self.alerts(state.history)
            let isChanged =
                !Self.areAlike(alerts, state.alerts)
                || (state.tick % Self.factTicks == 0 && Self.outages(alerts) != Self.outages(state.alerts))
            guard isChanged else { return (state.history.secondJSON, state.history, nil as [Alert]?) }
            state.alerts = alerts
            return (state.history.secondJSON, state.history, alerts)
        }
        let bytes = ServerSentEvent.bytes("second", second)
        for entry in streams.all where entry.topics.contains(.now) {
            entry.mailbox.post("second", bytes)
            guard let changed else { continue }
            let json = Self.json(history, Self.visible(changed, to: entry.roles))
            entry.mailbox.post("alert", ServerSentEvent.bytes("alert", json))
        }
    }

    /// Returns the alerts about failing push services. A page is updated even if only their facts have changed (the number
    /// of waiting pushes, the last answer), because operators watch these facts.
    private static func outages(_ alerts: [Alert]) -> [Alert] { alerts.filter { $0.code == "service-failing" } }

    /// Returns whether two lists have the same alerts.
    ///
    /// Facts such as an age are not compared, because they change every second.
    private static func areAlike(_ left: [Alert], _ right: [Alert]) -> Bool {
        left.map { [$0.code, $0.severity.rawValue, $0.hub, $0.platform] }
            == right.map { [$0.code, $0.severity.rawValue, $0.hub, $0.platform] }
    }

    private func tellSends(_ tick: Int) async {
        let entries = streams.all
        let topics = Set(entries.flatMap(\.topics)).subtracting([.now]).sorted { "\($0)" < "\($1)" }
        let hubs = Set(topics.compactMap(\.hub))
        state.withLock { state in
            state.told = state.told.filter { topics.contains($0.key) }
            state.held = state.held.filter { hubs.contains($0.key) }
        }
        guard !topics.isEmpty else { return }
        let first = topics.count > Self.topicLimit ? (tick * Self.topicLimit) % topics.count : 0
        for offset in 0..<min(topics.count, Self.topicLimit) {
            let topic = topics[(first + offset) % topics.count]
            guard let json = await read(topic) else { continue }
            let isNew = state.withLock { state in
                defer { state.told[topic] = json }
                return state.told[topic] != json
            }
            guard isNew else { continue }
            let bytes = ServerSentEvent.bytes(topic.event, json)
            for entry in entries where entry.topics.contains(topic) { entry.mailbox.post("\(topic)", bytes) }
        }
    }

    /// Reads the current state of a topic from the administration API.
    /// - Returns: nil for the topic `now`, or if the administration API refuses.
    private func read(_ topic: Topic) async -> JSON? {
        switch topic {
        case .now: return nil
        case .send(let hub, let id):
            let path = "/hubs/\(PercentEncoding.encode(hub))/messages/\(PercentEncoding.encode(id))"
            guard let status = await door.document(path + "/status") else { return nil }
            let funnel = await door.document(path + "/funnel") ?? .null
            return [
                "hub": .string(hub), "id": .string(id), "status": Withholding.removing(["author"], from: status),
                "funnel": funnel,
            ]
        case .sends(let hub):
            let path = "/hubs/\(PercentEncoding.encode(hub))/sends?limit=20"
            guard let sends = await door.document(path)?["sends"]?.array, let held = await held(in: hub, path) else {
                return nil
            }
            let (known, heldIDs) = (Set(sends.map(Self.id(of:))), Set(held.map(Self.id(of:))))
            let unfinished = sends.filter { $0["endedAt"] == .null }
            // Sends that wait for a decision come first. If a send is in both lists, its state is taken from `sends`,
            // which was read now; `held` may be a few seconds old.
            let waiting =
                held.filter { !known.contains(Self.id(of: $0)) }
                + unfinished.filter { heldIDs.contains(Self.id(of: $0)) }
            let running = (waiting + unfinished.filter { !heldIDs.contains(Self.id(of: $0)) }).map { send in
                let names = ["id", "state", "control", "goesOnAt", "targeted", "succeeded", "failed"]
                return JSON.object(Dictionary(uniqueKeysWithValues: names.map { ($0, send[$0] ?? .null) }))
            }
            return ["hub": .string(hub), "newest": sends.first?["cursor"] ?? .null, "running": .array(running)]
        }
    }

    private static func id(of send: JSON) -> String { send["id"]?.string ?? "" }

    /// Returns the sends of a hub that are held. The list may be a few seconds old, because a search for held sends
    /// reads every part of every waiting send. Held sends are read separately from the newest sends, because an old
    /// send can still be held.
    private func held(in hub: String, _ path: String) async -> [JSON]? {
        let (tick, known) = state.withLock { ($0.tick, $0.held[hub]) }
        if let known, tick % Self.factTicks != 0 { return known }
        guard let held = await door.document(path + "&state=held")?["sends"]?.array else { return nil }
        state.withLock { $0.held[hub] = held }
        return held
    }

    // MARK: Ending streams

    private func endExpired() async {
        let now = time.now
        let names = Set(streams.all.filter { !$0.session.isValid(at: now) }.map { $0.session.operatorName })
        for name in names { await recheck(name) }
    }

    /// Ends those streams of an operator whose session is over. If a session is over because the operator's roles have
    /// changed, the event that ends the stream says so.
    func recheck(_ name: String) async {
        let now = time.now
        for entry in streams.all where entry.session.operatorName.lowercased() == name.lowercased() {
            let hash = entry.session.tokenHash
            let session: OperatorSession?
            let current: Operator?
            do {
                session = try await directory.store.operatorSession(tokenHash: hash)?.0
                current = session == nil ? try await directory.store.operator(name) : nil
            } catch {
                // A failed read says nothing about the session; the next check decides.
                continue
            }
            if let session {
                if !session.isValid(at: now) { streams.end(.expired) { $0.session.tokenHash == hash } }
            } else {
                let isChanged = current.map { !$0.isDisabled && $0.roles != entry.roles } ?? false
                streams.end(isChanged ? .roles : .signedOut) { $0.session.tokenHash == hash }
            }
        }
    }
}

extension Topic {
    /// The name of the events that report the state of the topic.
    fileprivate var event: String {
        switch self {
        case .now: "second"
        case .send: "send"
        case .sends: "sends"
        }
    }
}

extension JSON {
    /// The value of a JSON number; nil for any other value.
    fileprivate var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }
}
