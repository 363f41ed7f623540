import MartletHTTP
import MartletModel
import MartletOpenAPI

// The operations that only the console has, and not the administration API.
extension ConsoleDescription {
    static var own: [APIGroup] {
        [signingIn, session, factor, live, rest, description]
    }

    private static func ok(_ text: String, _ schema: JSON) -> APIAnswer { APIAnswer(.ok, text, .json(schema)) }
    private static func done(_ text: String) -> APIAnswer { APIAnswer(.noContent, text) }
    private static let sessionSchema = APISchema.named("Session")

    private static func body(_ members: [String: JSON], optional: Set<String> = []) -> [APIContent] {
        [.json(APISchema.object(members, optional: optional))]
    }

    static let ownSchemas: [String: JSON] = [
        "Session": APISchema.object([
            "operator": APISchema.text, "roles": APISchema.texts,
            "hubs": APISchema.list(APISchema.object(["name": APISchema.text, "role": APISchema.text])),
            "isServerAdmin": APISchema.flag, "isFresh": APISchema.flag, "freshUntil": APISchema.time,
            "idleUntil": APISchema.time, "endsAt": APISchema.time, "hasPassword": APISchema.flag,
            "hasFactor": APISchema.flag, "provider": APISchema.textOrNull, "settings": APISchema.any,
            "version": APISchema.text, "now": APISchema.time,
            "simulator": APISchema.flag, "features": APISchema.texts,
        ])
    ]

    private static var signingIn: APIGroup {
        let code = APISchema.described("The code of the second factor, or a recovery code.", APISchema.textOrNull)
        return group(
            "Signing in", "Passwords, links, and an identity provider.", isOpen: true,
            [
                APIOperation(
                    .get, "/sign-in", id: "getSignIn", "Read whether there is an identity provider",
                    answers: [
                        ok(
                            "The provider's name.",
                            APISchema.object([
                                "provider": ["anyOf": [APISchema.object(["name": APISchema.text]), ["type": "null"]]]
                            ]))
                    ]),
                APIOperation(
                    .post, "/sign-in/provider", id: "beginProviderSignIn", "Begin to sign in by the identity provider",
                    body: body(
                        [
                            "fresh": APISchema.described(
                                "Whether the provider must ask who it is even if it knows.", APISchema.flag)
                        ], optional: ["fresh"]),
                    answers: [
                        ok(
                            "The address to go to; a cookie is set for the way back.",
                            APISchema.object(["location": APISchema.text]))
                    ]),
                APIOperation(
                    .post, "/sign-in/provider/finish", id: "finishProviderSignIn",
                    "Sign in with what the identity provider has answered",
                    body: body(
                        [
                            "state": APISchema.text,
                            "code": APISchema.described(
                                "The code; without it the provider let nobody in.", APISchema.textOrNull),
                            "iss": APISchema.described(
                                "The issuer that has answered (RFC 9207).", APISchema.textOrNull),
                        ], optional: ["code", "iss"]),
                    answers: [
                        ok(
                            "The session; its cookie is set, unless a session of the same operator was confirmed.",
                            sessionSchema)
                    ]),
                APIOperation(
                    .post, "/sign-in", id: "signIn", "Sign in with a password",
                    body: body(
                        ["name": APISchema.text, "password": APISchema.text, "code": code], optional: ["code"]),
                    answers: [ok("The session; its cookie is set.", sessionSchema)]),
                APIOperation(
                    .post, "/link", id: "readLink", "Read whom a link is for", body: body(["token": APISchema.text]),
                    answers: [
                        ok(
                            "The link.",
                            APISchema.object([
                                "kind": APISchema.text, "name": APISchema.text, "roles": APISchema.texts,
                                "expiresAt": APISchema.time,
                            ]))
                    ]),
                APIOperation(
                    .post, "/link/use", id: "useLink", "Sign in with a link, which then cannot be used again",
                    body: body(
                        ["token": APISchema.text, "password": APISchema.textOrNull, "code": code],
                        optional: ["password", "code"]),
                    answers: [ok("The session; its cookie is set.", sessionSchema)]),
                APIOperation(
                    .post, "/sign-out", id: "signOut", "End the session", answers: [done("It has ended.")]),
            ])
    }

    private static var session: APIGroup {
        let one = ok("The session.", sessionSchema)
        let entry = APISchema.object([
            "id": APISchema.text, "createdAt": APISchema.time, "usedAt": APISchema.time, "address": APISchema.text,
            "agent": APISchema.text, "isCurrent": APISchema.flag,
        ])
        return group(
            "Session", "The operator's own account.",
            [
                APIOperation(.get, "/session", id: "getSession", "Read the session", answers: [one]),
                APIOperation(.post, "/session/touch", id: "touchSession", "Keep the session alive", answers: [one]),
                APIOperation(
                    .post, "/session/confirm", id: "confirmSession", "Enter the password again",
                    body: body(["password": APISchema.text]), answers: [one]),
                APIOperation(
                    .put, "/session/settings", id: "putSettings", "Store settings such as language and time zone",
                    body: [.json(APISchema.any)], answers: [one]),
                APIOperation(
                    .put, "/session/password", id: "putPassword", "Change the password",
                    body: body(["password": APISchema.text, "new": APISchema.text], optional: ["password"]),
                    answers: [done("It is changed, and all other sessions have ended.")]),
                APIOperation(
                    .get, "/sessions", id: "listSessions", "List the operator's sessions",
                    answers: [ok("The sessions.", APISchema.list(entry))]),
                APIOperation(
                    .delete, "/sessions/{session}", id: "endSession", "End a session", answers: [done("It has ended.")]),
            ])
    }

    private static var factor: APIGroup {
        let code = body(["code": APISchema.text])
        return group(
            "Second factor", "The operator's own second factor.",
            [
                APIOperation(
                    .get, "/session/factor", id: "getFactor", "Read whether there is a second factor",
                    answers: [
                        ok(
                            "The state.",
                            APISchema.object([
                                "isOn": APISchema.flag, "since": APISchema.timeOrNull, "recoveryCodes": APISchema.count,
                            ]))
                    ]),
                APIOperation(
                    .post, "/session/factor", id: "beginFactor", "Make a secret, which a code must confirm",
                    answers: [
                        APIAnswer(
                            .created, "The secret.",
                            .json(APISchema.object(["secret": APISchema.text, "uri": APISchema.text])))
                    ]),
                APIOperation(
                    .post, "/session/factor/confirm", id: "confirmFactor", "Turn the second factor on", body: code,
                    answers: [
                        ok("The recovery codes, shown once.", APISchema.object(["recoveryCodes": APISchema.texts]))
                    ]),
                APIOperation(
                    .post, "/session/factor/remove", id: "removeFactor", "Turn the second factor off", body: code,
                    answers: [done("It is off.")]),
            ])
    }

    private static var live: APIGroup {
        group(
            "Live", "Alerts and figures of the server.",
            [
                APIOperation(
                    .get, "/alerts", id: "getAlerts", "Read what needs attention, as codes with facts",
                    answers: [ok("The alerts.", APISchema.any)]),
                APIOperation(
                    .get, "/now", id: "getNow", "Read what a stream of events begins with",
                    answers: [ok("The snapshot.", APISchema.any)]),
                APIOperation(
                    .get, "/metrics/history", id: "getHistory", "Read the figures of charts",
                    parameters: [
                        APIParameter(.query, "range", "How far back.", schema: APISchema.words("15m", "24h", "35d"))
                    ], answers: [ok("The figures.", APISchema.any)]),
                APIOperation(
                    .get, "/events", id: "getEvents", "Read a stream of server-sent events",
                    parameters: [
                        APIParameter(.query, "topics", "Of `now`, `sends:HUB` and `send:HUB:ID`, with commas between.")
                    ], answers: [APIAnswer(.ok, "The stream.", APIContent("text/event-stream"))]),
            ])
    }

    /// The operations of the hub's API that the console passes on. The description of the hub's API has the details.
    private static var rest: APIGroup {
        let payload = [
            APIContent("application/json", [:]), APIContent("application/xml"), APIContent("application/octet-stream"),
        ]
        let location = APIParameter(.header, "Location", "The address of what was made.")
        let installation = [APIContent.json(APISchema.any)]
        let settings = ok("The settings.", APISchema.named("SendingSettings"))
        let everybody = APIParameter(
            .header, "Martlet-Everybody", "`true` confirms a send without tags.", schema: ["enum": ["true"]])
        return group(
            "Hub", "Requests of the hub's API, which its own description explains.",
            [
                APIOperation(
                    .post, "/rest/{hub}/messages", id: "send", "Send, check (`?dryRun`) or test (`?test`) a message",
                    parameters: [everybody], body: payload,
                    answers: [
                        ok("The result of a check.", APISchema.any),
                        APIAnswer(
                            .created, "The send is accepted, or the results of a test.", .json(APISchema.any),
                            headers: [location]),
                    ]),
                APIOperation(
                    .post, "/rest/{hub}/schedulednotifications", id: "schedule", "Schedule a send",
                    parameters: [everybody], body: payload,
                    answers: [APIAnswer(.created, "The send is scheduled.", headers: [location])]),
                APIOperation(
                    .put, "/rest/{hub}/schedulednotifications/{id}", id: "reschedule", "Replace a scheduled send",
                    parameters: [everybody], body: payload,
                    answers: [APIAnswer(.created, "It is replaced.", headers: [location])]),
                APIOperation(
                    .delete, "/rest/{hub}/schedulednotifications/{id}", id: "withdraw", "Withdraw a scheduled send",
                    answers: [APIAnswer(.ok, "It is withdrawn.")]),
                APIOperation(
                    .get, "/rest/{hub}/sending", id: "getSending", "Read the hub's settings for sends",
                    answers: [settings]),
                APIOperation(
                    .put, "/rest/{hub}/sending", id: "putSending", "Replace the hub's settings for sends",
                    body: [.json(APISchema.named("SendingSettings"))], answers: [settings]),
                APIOperation(
                    .get, "/rest/{hub}/installations/{id}", id: "getInstallation",
                    "Read an installation, its handle masked",
                    answers: [ok("The installation.", APISchema.any)]),
                APIOperation(
                    .put, "/rest/{hub}/installations/{id}", id: "putInstallation", "Register an installation",
                    body: installation, answers: [APIAnswer(.ok, "It is registered.")]),
                APIOperation(
                    .delete, "/rest/{hub}/installations/{id}", id: "deleteInstallation", "Remove an installation",
                    answers: [done("It is gone.")]),
                APIOperation(
                    .delete, "/rest/{hub}/registrations/{id}", id: "deleteRegistration", "Remove a registration",
                    answers: [APIAnswer(.ok, "It is gone.")]),
            ])
    }

    private static var description: APIGroup {
        group(
            "Description", "The description of this API.",
            [APIOperation(.get, path, id: "getDescription", "Read this document", answers: [APIDescription.answer])])
    }

    // MARK: The simulator

    static let simulatorPattern = "/simulator/{path...}"

    /// The routes of the simulator that the console's pages use. Docs/Simulator.md describes all routes of the
    /// simulator.
    static var simulator: APIGroup {
        group(
            "Simulator", "The simulator's control interface, where a simulator runs.",
            [
                APIOperation(
                    .get, "/simulator/services", id: "listSimulatedServices", "List services with their faults",
                    answers: [ok("By platform.", APISchema.any)]),
                APIOperation(
                    .get, "/simulator/counters", id: "getCounters", "Read what the services counted",
                    answers: [ok("The counters.", APISchema.any)]),
                APIOperation(
                    .post, "/simulator/devices", id: "makeDevice", "Make up a device",
                    body: [.json(APISchema.any)], answers: [APIAnswer(.created, "The device.", .json(APISchema.any))]),
                APIOperation(
                    .get, "/simulator/device", id: "getSimulatedDevice", "Read a device with what it has received",
                    parameters: [APIParameter(.query, "handle", "The device's handle.")],
                    answers: [ok("The device.", APISchema.any)]),
                APIOperation(
                    .get, "/simulator/faults", id: "listFaults", "List the faults that are set",
                    answers: [ok("The faults.", APISchema.any)]),
                APIOperation(
                    .post, "/simulator/faults", id: "addFault", "Set a fault", body: [.json(APISchema.any)],
                    answers: [APIAnswer(.created, "Its id.", .json(APISchema.object(["id": APISchema.count])))]),
                APIOperation(
                    .delete, "/simulator/faults", id: "clearFaults", "Remove all faults",
                    answers: [done("They are gone.")]),
            ])
    }
}
