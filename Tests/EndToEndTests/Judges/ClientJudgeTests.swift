import Testing

/// What public clients, browsers and the forms of others' SDKs come to.
@Suite(.serialized, .enabled(if: BuiltProducts.hasPython, Judge.isMissing), .timeLimit(.minutes(10)))
struct ClientJudgeTests {
    @Test("A public APNs client is satisfied by the simulator")
    func aioapnsIsSatisfied() async throws {
        try await Judge.run("aioapns_client.py")
    }

    @Test("A public Web Push client is satisfied by the simulator, and browsers in Python by the hub")
    func webPushIsSatisfied() async throws {
        try await Judge.run("web_push.py")
    }

    @Test(
        "A real browser decrypts and shows what the hub sends, with the simulator as its push service",
        .enabled(if: BuiltProducts.hasBrowser, "there is no Firefox: `Scripts/setup test` could not install it"))
    func firefoxIsSatisfied() async throws {
        try await Judge.run("browser_push.py")
    }

    @Test("The console's jobs by mouse and by keyboard, and its screens by axe, in a real browser")
    func theConsoleIsSatisfying() async throws {
        try await Judge.run("console_pages.py")
    }

    @Test("Operators sign in to the console by a public identity provider, and attacks on the way fail")
    func theConsoleSignsInByAProvider() async throws {
        try await Judge.run("console_sign_in.py")
    }

    @Test("The three guides and end-to-end encryption, on six platforms, by what phones show")
    func theGuidesAreTold() async throws {
        try await Judge.run("guides.py")
    }

    @Test("A Live Activity starts, changes and ends, and tokens get what they are for alone")
    func liveActivitiesReachTheirTokens() async throws {
        try await Judge.run("live_activities.py")
    }

    @Test("The text of an end-to-end encrypted message is nowhere except at its sender and its recipient")
    func theSecretIsNowhere() async throws {
        try await Judge.run("secret_search.py")
    }

    @Test("A public FCM client is satisfied by the simulator, whose tokens it gets by its own code")
    func firebaseIsSatisfied() async throws {
        try await Judge.run("firebase_client.py")
    }

    @Test("A public Notification Hubs client lists, sends and deletes, and its pushes satisfy a strict APNs")
    func theHubPackageIsSatisfied() async throws {
        try await Judge.run("notification_hub_client.py")
    }

    @Test("A public blob client uploads, downloads, lists and deletes by signed URL")
    func theBlobPackageIsSatisfied() async throws {
        try await Judge.run("blob_client.py")
    }

    @Test("Requests of Microsoft's SDKs are served, and they can read the answers")
    func theFormsOfTheSDKsAreSatisfied() async throws {
        try await Judge.run("sdk_wire.py")
    }

    @Test("Tokens of a public identity provider open the backend, and no others")
    func theIdentityProviderIsSatisfied() async throws {
        try await Judge.run("openid_connect.py")
    }

    @Test("Both APIs answer a judge of OpenAPI descriptions as they describe themselves")
    func schemathesisIsSatisfied() async throws {
        try await Judge.run("schemathesis_judge.py")
    }
}
