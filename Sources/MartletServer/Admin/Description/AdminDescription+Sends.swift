import MartletHTTP
import MartletModel
import MartletOpenAPI

// The groups of routes for sends: lists, control, traces, dead letters and campaigns.
extension AdminDescription {
    static var sends: APIGroup {
        group(
            "Sends", "What was sent, and why a device did or did not get it.",
            APIOperation(
                .get, "/hubs/{name}/sends", id: "listSends", "List sends, newest first",
                parameters: [
                    before, limit(200, usual: 50),
                    query("state", "", schema: APISchema.words("scheduled", "running", "held", "ended")),
                    query("platform", "Only native sends to this platform."),
                    query(
                        "author",
                        "key:RULE, user:NAME, operator:NAME, administrator, resend for all resends, or resend:ID."),
                    query("since", "Only sends accepted at this time or later.", schema: APISchema.time),
                ],
                answers: [
                    ok(
                        "A page. `isPartial`: the search has ended at its bound, and continues at `next`.",
                        APISchema.object([
                            "sends": APISchema.list(APISchema.named("Send")), "next": APISchema.textOrNull,
                            "isPartial": APISchema.flag,
                        ]))
                ]),
            APIOperation(
                .get, "/hubs/{name}/sends/{id}", id: "getSend", "Read a send with its content",
                answers: [ok("The send.", APISchema.named("SendDetail"))]),
            APIOperation(
                .get, "/hubs/{name}/messages/{id}/status", id: "getStatus", "Read how far a send is",
                answers: [ok("The status.", APISchema.named("SendStatus"))]),
            APIOperation(
                .get, "/hubs/{name}/messages/{id}/funnel", id: "getFunnel", "Read how many devices a send reached",
                answers: [ok("The counts.", APISchema.named("Funnel"))]),
            APIOperation(
                .get, "/hubs/{name}/messages/{id}/devices/{device}", id: "getTrace",
                "Read why a device did or did not get a send",
                answers: [ok("The trace.", APISchema.named("DeviceTrace"))]))
    }

    static var control: APIGroup {
        func operation(_ wish: String, _ summary: String) -> APIOperation {
            APIOperation(
                .post, "/hubs/{name}/messages/{id}/\(wish)", id: "\(wish)Send", summary,
                answers: [ok("The status.", APISchema.named("SendStatus"))])
        }
        return group(
            "Control", "Sends under way.", operation("pause", "Pause a send"),
            operation("resume", "Resume a send, or let a canary go on"), operation("cancel", "Stop a send for good"))
    }

    static var deadLetters: APIGroup {
        let outcome = query("outcome", "Only dead letters of this outcome.")
        let continuation = query("continuation", "The `continuation` of the page before.")
        return group(
            "Dead letters", "Devices that a send did not reach.",
            APIOperation(
                .get, "/hubs/{name}/deadletters", id: "listDeadLetterSends", "List sends with dead letters",
                parameters: [
                    query(
                        "order", "`newest` for the newest first; otherwise the oldest.", schema: ["enum": ["newest"]]),
                    APIParameter(
                        .query, "outcome", "Only sends with dead letters of this outcome; with `order=newest`."),
                    continuation, limit(100, usual: 50),
                ], answers: [ok("A page.", APISchema.named("DeadLetterSends"))]),
            APIOperation(
                .get, "/hubs/{name}/messages/{id}/deadletters", id: "listDeadLetters",
                "List the dead letters of a send",
                parameters: [outcome, continuation],
                answers: [ok("A page, without handles and payloads.", APISchema.named("DeadLetters"))]),
            APIOperation(
                .get, "/hubs/{name}/messages/{id}/deadletters/reasons", id: "countReasons",
                "Count the dead letters of a send by outcome and reason",
                answers: [
                    ok(
                        "The most frequent first. `isPartial`: there are more than were counted.",
                        APISchema.object([
                            "reasons": APISchema.list(
                                APISchema.object([
                                    "outcome": APISchema.text, "reason": APISchema.text, "count": APISchema.count,
                                ])), "isPartial": APISchema.flag,
                        ]))
                ]),
            APIOperation(
                .post, "/hubs/{name}/messages/{id}/deadletters/resend", id: "resend", "Send dead letters again, once",
                parameters: [outcome],
                answers: [created("The new send.", APISchema.object(["notification": APISchema.text]))]))
    }

    static var campaigns: APIGroup {
        let campaign = APISchema.named("Campaign")
        let conflict = APIAnswer(
            .conflict, "Another version is stored, or the campaign was sent; the campaign as it is now.",
            .json(APISchema.object(["error": APISchema.text, "campaign": campaign], optional: ["campaign"])))
        return group(
            "Campaigns", "Drafts with names, and what was sent from them.",
            APIOperation(
                .get, "/hubs/{name}/campaigns", id: "listCampaigns", "List campaigns without their drafts",
                parameters: [before, limit(200, usual: 50)],
                answers: [
                    ok(
                        "Newest first.",
                        APISchema.object(["campaigns": APISchema.list(campaign), "next": APISchema.textOrNull]))
                ]),
            APIOperation(
                .post, "/hubs/{name}/campaigns", id: "addCampaign", "Add a campaign",
                body: [.json(APISchema.named("CampaignDraft"))], answers: [created("The campaign.", campaign)]),
            APIOperation(
                .get, "/hubs/{name}/campaigns/{id}", id: "getCampaign", "Read a campaign",
                answers: [ok("The campaign.", campaign)]),
            APIOperation(
                .put, "/hubs/{name}/campaigns/{id}", id: "putCampaign", "Replace the draft that was read",
                body: [.json(APISchema.named("CampaignDraft"))], answers: [ok("The campaign.", campaign), conflict]),
            APIOperation(
                .put, "/hubs/{name}/campaigns/{id}/send", id: "recordCampaignSend",
                "Record what was sent from a campaign, which cannot be changed from then on",
                body: [.json(APISchema.object(["notification": APISchema.text]))],
                answers: [ok("The campaign.", campaign), conflict]),
            APIOperation(
                .delete, "/hubs/{name}/campaigns/{id}", id: "deleteCampaign", "Delete a campaign",
                answers: [done("The campaign is gone. What was sent stays.")]))
    }
}
