import Testing

/// What the judges of Tests/Peers find after kills, lost power, floods and a long load.
@Suite(.serialized, .enabled(if: BuiltProducts.hasPython, Judge.isMissing), .timeLimit(.minutes(10)))
struct ReliabilityJudgeTests {
    /// How long before a kill a push that comes again may have come first, in seconds. The storm by hand allows 5; here
    /// builds and other judges run beside it, and a page is recorded late on a busy machine.
    private static let window = "60"

    @Test("Requests answered with success survive kill -9")
    func nothingAcknowledgedIsLostByKills() async throws {
        try await Judge.run("durability.py", "--rounds", "3", "--window", Self.window)
    }

    @Test("Requests answered with success survive the loss of everything that was not synced")
    func nothingAcknowledgedIsLostWithThePower() async throws {
        try await Judge.run("durability.py", "--rounds", "3", "--forgetful", "--window", Self.window)
    }

    @Test(
        "Requests answered with success survive kill -9 on PostgreSQL, which ends sessions",
        .enabled(if: BuiltProducts.hasPostgres, "there is no PostgreSQL: `Scripts/setup test` installs it"))
    func nothingAcknowledgedIsLostOnPostgreSQL() async throws {
        try await Judge.run("durability.py", "--rounds", "3", "--postgres", "--window", Self.window)
    }

    @Test(
        "Nothing is lost, and nothing comes twice without a reason, when nodes die, stand still or lose the database",
        .enabled(if: BuiltProducts.hasPostgres, "there is no PostgreSQL: `Scripts/setup test` installs it"))
    func nodesTakeOver() async throws {
        try await Judge.run(
            "nodes.py", "--faults", "5", "--spacing", "1", "4", "--longest", "14", "--grace", "4", "--window",
            Self.window)
    }

    @Test("Retries survive kill -9, stopped processes and changes of the clock")
    func nothingIsLostByKillsWhileServicesFail() async throws {
        try await Judge.run(
            "durability.py", "--rounds", "3", "--writers", "16", "--simulator",
            "--stalls", "1", "--clock", "--settle", "30", "--window", Self.window)
    }

    @Test("Unfinished requests take little memory and hold nobody up")
    func floodsTakeLittleMemory() async throws {
        try await Judge.run("flood.py")
    }

    @Test("Broadcasts to devices with large templates of their own take little memory, and give it back")
    func largeTemplatesTakeLittleMemory() async throws {
        try await Judge.run("template_memory.py")
    }

    @Test("A steady load arrives while the push services fail in turn, and the server does not grow out of bounds")
    func aSteadyLoadArrives() async throws {
        try await Judge.run(
            "soak.py", "--minutes", "0.2", "--users", "36", "--crowd", "200")
    }

    @Test("Why a push did or did not arrive is told by what was true when it was sent")
    func everyDeviceCanSayWhy() async throws {
        try await Judge.run("why.py")
    }

    @Test("Counts and payloads shown before a send are those that arrive")
    func dryRunsComeTrue() async throws {
        try await Judge.run("dry_runs.py")
    }

    @Test("One message reaches the devices of six services in their languages, each in its platform's form")
    func oneMessageReachesEveryPlatform() async throws {
        try await Judge.run("one_message.py")
    }

    @Test("Each wrong message, roll-out and setting is refused by its sentence, and nothing of it is stored")
    func eachRefusalHasItsSentence() async throws {
        try await Judge.run("refused_sends.py")
    }

    @Test("Metrics can be read by a public parser, and count what the simulator counts")
    func metricsAreTrue() async throws {
        try await Judge.run("metrics.py")
    }

    @Test("Scheduled notifications survive kill -9 and are sent at their time")
    func schedulesOutliveKills() async throws {
        try await Judge.run("schedules.py")
    }

    @Test("An import goes on after every kill -9, with no line lost and none done twice")
    func anImportSurvivesKills() async throws {
        try await Judge.run("job_kills.py")
    }
}
