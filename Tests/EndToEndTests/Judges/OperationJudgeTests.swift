import Testing

/// What the judges of Tests/Peers find while a server is installed, moved, renewed, backed up and repaired.
@Suite(.serialized, .enabled(if: BuiltProducts.hasPython, Judge.isMissing), .timeLimit(.minutes(10)))
struct OperationJudgeTests {
    @Test("Moving from another hub while sends go on loses nobody and reaches nobody twice, in spite of kills")
    func aMigrationLosesNobody() async throws {
        try await Judge.run("migration.py")
    }

    @Test("A public authority issues the certificate and renews it under load, whatever goes wrong on the way")
    func anAuthorityIssuesTheCertificate() async throws {
        try await Judge.run("acme.py")
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

    @Test("Root leaves no file of its own in another user's data directory, and the admin socket says who changed what")
    func aDataDirectoryStaysItsOwners() async throws {
        try await Judge.run("ownership.py")
    }

    @Test("A full disk takes in nothing new and loses nothing that was accepted")
    func aFullDiskLosesNothing() async throws {
        try await Judge.run("disk_full.py")
    }

    @Test("A backup that is made in the middle of sends loses nothing and sends nothing again that was finished")
    func aBackupIsRestoredElsewhere() async throws {
        try await Judge.run("backups.py")
    }

    @Test("Data is moved to PostgreSQL and back, whole or not at all, in spite of kill -9, and a difference is found")
    func dataIsMovedThereAndBack() async throws {
        try await Judge.run("moves.py")
    }

    @Test("A move to PostgreSQL is refused without the standby before anything is marked, and done only with it")
    func aMoveNeedsTheStandby() async throws {
        try await Judge.run("standby_moves.py")
    }

    @Test("What stands in a node's way is found by a check in the words of its start, and makes no key of its own")
    func aNodeIsCheckedBeforeItServes() async throws {
        try await Judge.run("node_starts.py")
    }

    @Test("A hub moves to another cluster and back under load, in spite of kill -9: nothing lost, few writes refused")
    func aHubMovesToAnotherCluster() async throws {
        try await Judge.run("clusters.py")
    }

    @Test("Databases of earlier schemas are upgraded with nothing lost, in spite of kill -9, and their copies go back")
    func oldDatabasesAreUpgraded() async throws {
        try await Judge.run("upgrades.py")
    }

    @Test("After each loss of the drill the server is back, and nothing that was promised is lost")
    func lossesAreRecovered() async throws {
        try await Judge.run("recovery.py")
    }

    @Test("The server's key is changed and the server killed meanwhile: every secret opens, and the old key opens none")
    func aKeyIsChangedInSpiteOfKills() async throws {
        try await Judge.run("key_rotation.py")
    }

    @Test("Registrations are imported, listed while some change, and exported again: the same")
    func aHubIsMovedByJobs() async throws {
        try await Judge.run("mass_jobs.py", "--count", "20000")
    }

    @Test("A hub is exported by a command and imported elsewhere: the same, installations included")
    func aHubIsMovedByCommands() async throws {
        try await Judge.run("transfers.py")
    }

    @Test("Wrong command lines change nothing, what cannot be undone is asked about, and bash completes words")
    func theCommandLineIsSafe() async throws {
        try await Judge.run("command_line.py")
    }
}
