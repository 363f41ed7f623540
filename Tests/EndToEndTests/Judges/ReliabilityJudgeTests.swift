import Testing

/// What the judges of Tests/Peers find after kills, lost power, a full disk and a long load.
@Suite(.serialized, .enabled(if: BuiltProducts.hasPython, Judge.isMissing), .timeLimit(.minutes(10)))
struct ReliabilityJudgeTests {
    @Test("Unfinished requests take little memory and hold nobody up")
    func floodsTakeLittleMemory() async throws {
        try await Judge.run("flood.py")
    }

    @Test(
        "Behind nginx and HAProxy, as Docs/Publishing.md sets them up, callers are told apart and nobody can be another"
    )
    func callersBehindAProxyAreToldApart() async throws {
        try await Judge.run("proxies.py")
    }

    @Test("The console's API admits whom its operators' roles admit, over real HTTP, whatever a stranger's page tries")
    func theConsoleAdmitsItsOperatorsAlone() async throws {
        try await Judge.run("console_api.py")
    }

    @Test("Certificates are exchanged under load, reloads leave nothing behind, and a service manager hears of it all")
    func certificatesAreExchangedUnderLoad() async throws {
        try await Judge.run("lifecycle.py")
    }

    @Test("A public authority issues the certificate and renews it under load, whatever goes wrong on the way")
    func anAuthorityIssuesTheCertificate() async throws {
        try await Judge.run("acme.py")
    }

    @Test("Root leaves no file of its own in another user's data directory, and the admin socket says who changed what")
    func aDataDirectoryStaysItsOwners() async throws {
        try await Judge.run("ownership.py")
    }

    @Test("What was answered with success survives kill -9")
    func nothingAcknowledgedIsLostByKills() async throws {
        try await Judge.run("durability.py", "--rounds", "3")
    }

    @Test("What was answered with success survives the loss of all that was not synced")
    func nothingAcknowledgedIsLostWithThePower() async throws {
        try await Judge.run("durability.py", "--rounds", "3", "--forgetful")
    }

    @Test("What waits to be tried again survives kill -9, while programs stand still and the clock is set")
    func nothingIsLostByKillsWhileServicesFail() async throws {
        try await Judge.run(
            "durability.py", "--rounds", "3", "--writers", "16", "--simulator",
            "--stalls", "1", "--clock", "--settle", "30")
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

    @Test("A full disk takes in nothing new and loses nothing that was accepted")
    func aFullDiskLosesNothing() async throws {
        try await Judge.run("disk_full.py")
    }

    @Test("What is counted and shown before a send is what then arrives")
    func dryRunsComeTrue() async throws {
        try await Judge.run("dry_runs.py")
    }

    @Test("One message reaches the devices of six services in their languages, each in its platform's form")
    func oneMessageReachesEveryPlatform() async throws {
        try await Judge.run("one_message.py")
    }

    @Test("Metrics can be read by a public parser, and count what the simulator counts")
    func metricsAreTrue() async throws {
        try await Judge.run("metrics.py")
    }

    @Test("What is scheduled survives kill -9 and goes out when its time has come")
    func schedulesOutliveKills() async throws {
        try await Judge.run("schedules.py")
    }

    @Test("A backup that is made in the middle of sends loses nothing and sends nothing again that was finished")
    func aBackupIsRestoredElsewhere() async throws {
        try await Judge.run("backups.py")
    }

    @Test("Databases of earlier schemas are upgraded with nothing lost, in spite of kill -9, and their copies go back")
    func oldDatabasesAreUpgraded() async throws {
        try await Judge.run("upgrades.py")
    }

    @Test("After each loss of the drill the server is back, and nothing that was promised is lost")
    func lossesAreRecovered() async throws {
        try await Judge.run("recovery.py")
    }

    @Test("Moving from another hub while sends go on loses nobody and reaches nobody twice, in spite of kills")
    func aMigrationLosesNobody() async throws {
        try await Judge.run("migration.py")
    }

    @Test("An import goes on after every kill -9, with no line lost and none done twice")
    func anImportSurvivesKills() async throws {
        try await Judge.run("job_kills.py")
    }

    @Test("The server's key is changed and the server killed meanwhile: every secret opens, and the old key opens none")
    func aKeyIsChangedInSpiteOfKills() async throws {
        try await Judge.run("key_rotation.py")
    }
}
