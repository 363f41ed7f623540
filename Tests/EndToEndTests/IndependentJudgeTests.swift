import Foundation
import Testing

/// The judges of Tests/Peers, which share no code with Martlet, each run to its end.
@Suite(
    .serialized,
    .enabled(if: BuiltProducts.hasPython, "there is no .build/python: run `Scripts/setup test` once"),
    .timeLimit(.minutes(5)))
struct IndependentJudgeTests {
    @Test("What was answered with success survives kill -9")
    func nothingAcknowledgedIsLostByKills() async throws {
        try await judge("durability.py", BuiltProducts.martlet.path, "--rounds", "3")
    }

    @Test("What was answered with success survives the loss of all that was not synced")
    func nothingAcknowledgedIsLostWithThePower() async throws {
        try await judge("durability.py", BuiltProducts.martlet.path, "--rounds", "3", "--forgetful")
    }

    @Test("What waits to be tried again survives kill -9, while programs stand still and the clock is set")
    func nothingIsLostByKillsWhileServicesFail() async throws {
        try await judge(
            "durability.py", BuiltProducts.martlet.path, "--rounds", "3", "--writers", "16", "--simulator",
            "--stalls", "1", "--clock", "--settle", "30")
    }

    @Test("A steady load arrives while the push services fail in turn, and the server does not grow out of bounds")
    func aSteadyLoadArrives() async throws {
        try await judge("soak.py", BuiltProducts.martlet.path, "--minutes", "0.2", "--users", "36", "--crowd", "200")
    }

    @Test("Whatever fault meets a service, alone or with others, every device is reached or refused as it ought to be")
    func everyFaultEndsInTheRightState() async throws {
        try await judge(
            "fault_sweep.py", BuiltProducts.martlet.path, "--devices", "30", "--rounds", "1", "--combinations", "1")
    }

    @Test("Why a push did or did not arrive is told by what was true when it was sent")
    func everyDeviceCanSayWhy() async throws {
        try await judge("why.py", BuiltProducts.martlet.path)
    }

    @Test("A full disk takes in nothing new and loses nothing that was accepted")
    func aFullDiskLosesNothing() async throws {
        try await judge("disk_full.py", BuiltProducts.martlet.path)
    }

    @Test("What is counted and shown before a send is what then arrives")
    func dryRunsComeTrue() async throws {
        try await judge("dry_runs.py", BuiltProducts.martlet.path)
    }

    @Test("Dead device tokens do not cost the living their streams")
    func suspectsHaveAConnectionOfTheirOwn() async throws {
        try await judge("suspects.py", BuiltProducts.martlet.path)
    }

    @Test("A send that is canceled, paused or halted stops at once, and its numbers add up")
    func sendsAreControlled() async throws {
        try await judge("control.py", BuiltProducts.martlet.path, "--devices", "3000")
    }

    @Test("Metrics can be read by a public parser, and count what the simulator counts")
    func metricsAreTrue() async throws {
        try await judge("metrics.py", BuiltProducts.martlet.path)
    }

    @Test("What is scheduled survives kill -9 and goes out when its time has come")
    func schedulesOutliveKills() async throws {
        try await judge("schedules.py", BuiltProducts.martlet.path)
    }

    @Test("A backup that is made in the middle of sends loses nothing and sends nothing again that was finished")
    func aBackupIsRestoredElsewhere() async throws {
        try await judge("backups.py", BuiltProducts.martlet.path)
    }

    @Test("A short send overtakes a backlog of broadcasts, and a service that answers nothing holds up nobody else")
    func shortSendsOvertake() async throws {
        try await judge("overtaking.py", BuiltProducts.martlet.path)
    }

    @Test("A public APNs client is satisfied by the simulator")
    func aioapnsIsSatisfied() async throws {
        try await judge("aioapns_client.py", BuiltProducts.martlet.path)
    }

    @Test("A public Web Push client is satisfied by the simulator, and browsers in Python by the hub")
    func webPushIsSatisfied() async throws {
        try await judge("web_push.py", BuiltProducts.martlet.path)
    }

    @Test(
        "A real browser decrypts and shows what the hub sends, with the simulator as its push service",
        .enabled(if: BuiltProducts.hasBrowser, "there is no Firefox: `Scripts/setup test` could not install it"))
    func firefoxIsSatisfied() async throws {
        try await judge("browser_push.py", BuiltProducts.martlet.path)
    }

    @Test("The three guides and end-to-end encryption, on six platforms, by what phones show")
    func theGuidesAreTold() async throws {
        try await judge("guides.py", BuiltProducts.martlet.path)
    }

    @Test("Whatever a push service does, messages arrive that can and devices stay that should")
    func faultsLeaveTheHubInTheRightState() async throws {
        try await judge("faults.py", BuiltProducts.martlet.path)
    }

    @Test("A Live Activity starts, changes and ends, and tokens get what they are for alone")
    func liveActivitiesReachTheirTokens() async throws {
        try await judge("live_activities.py", BuiltProducts.martlet.path)
    }

    @Test("Every answer of FCM, WNS, MPNS and ADM comes to what it ought to")
    func answersOfServicesAreUnderstood() async throws {
        try await judge("service_answers.py", BuiltProducts.martlet.path)
    }

    @Test("Dead letters are listed, sent again and received once, and a wrong project removes nobody")
    func deadLettersAreSentAgain() async throws {
        try await judge("letters.py", BuiltProducts.martlet.path)
    }

    @Test(
        "Whatever the simulator does as FCM, WNS, MPNS, ADM or Web Push, nothing is lost and nothing kept that is gone")
    func faultsOfServicesAreOvercome() async throws {
        try await judge("service_faults.py", BuiltProducts.martlet.path)
    }

    @Test("What was sent end to end encrypted is nowhere but with its sender and its recipient")
    func theSecretIsNowhere() async throws {
        try await judge("secret_search.py", BuiltProducts.martlet.path)
    }

    @Test("A public FCM client is satisfied by the simulator, whose tokens it gets by its own code")
    func firebaseIsSatisfied() async throws {
        try await judge("firebase_client.py", BuiltProducts.martlet.path)
    }

    @Test("A public Notification Hubs client lists, sends and deletes, and its pushes satisfy a strict APNs")
    func theHubPackageIsSatisfied() async throws {
        try await judge("notification_hub_client.py", BuiltProducts.martlet.path)
    }

    @Test("A public blob client uploads, downloads, lists and deletes by signed URL")
    func theBlobPackageIsSatisfied() async throws {
        try await judge("blob_client.py", BuiltProducts.martlet.path)
    }

    @Test("An import goes on after every kill -9, with no line lost and none done twice")
    func anImportSurvivesKills() async throws {
        try await judge("job_kills.py", BuiltProducts.martlet.path)
    }

    @Test("Registrations are imported, listed while some change, and exported again: the same")
    func aHubIsMovedByJobs() async throws {
        try await judge("mass_jobs.py", BuiltProducts.martlet.path, "--count", "20000")
    }

    @Test("What Microsoft's SDKs send is served, and what is answered can be read as strictly as they read it")
    func theFormsOfTheSDKsAreSatisfied() async throws {
        try await judge("sdk_wire.py", BuiltProducts.martlet.path)
    }

    @Test("Tokens of a public identity provider open the backend, and no others")
    func theIdentityProviderIsSatisfied() async throws {
        try await judge("openid_connect.py", BuiltProducts.martlet.path)
    }

    @Test("The server's key is changed and the server killed meanwhile: every secret opens, and the old key opens none")
    func aKeyIsChangedInSpiteOfKills() async throws {
        try await judge("key_rotation.py", BuiltProducts.martlet.path)
    }

    @Test("Both APIs answer a judge of OpenAPI descriptions as they describe themselves")
    func schemathesisIsSatisfied() async throws {
        try await judge("schemathesis_judge.py", BuiltProducts.martlet.path)
    }

    /// Runs Python beside the judges; shows its closing counts, or all of its words where it is not content.
    private func judge(_ arguments: String...) async throws {
        let finished = try await Finished.running(
            BuiltProducts.python, arguments, environment: ["PYTHONDONTWRITEBYTECODE": "1"], in: BuiltProducts.peers)
        let counts = finished.output.split(separator: "\n").filter { line in
            [
                "control:", "durability:", "soak:", "fault-sweep:", "faults:", "guides:", "forgetful:", "schedules:",
                "backups:", "aioapns-client:", "firebase-client:",
                "notification-hub-client:", "blob-client:", "service-answers:", "service-faults:", "web-push:",
                "browser-push:", "secret-search:", "sdk-wire:", "schemathesis:", "job-kills:", "live-activities:",
                "openid-connect:", "key-rotation:", "metrics:", "overtaking:",
                "mass-jobs:", "Ran ",
            ].contains { line.hasPrefix($0) }
        }
        print(counts.joined(separator: "\n"))
        #expect(finished.status == 0, "\(finished.output)")
    }
}
