import MartletCore
import MartletHTTP
import MartletModel
import MartletOpenAPI

extension HubDescription {
    var messages: APIGroup {
        Self.hubGroup(
            "Messages", "Sending, at once or later, and what became of it.",
            [
                send(
                    "/{hub}/messages", id: "send",
                    "Send to everybody, to a tag expression or, with `direct`, to a handle",
                    parameters: [direct, test, Self.testAnswer, Self.dryRun, tags, handle], body: payloads,
                    answers: [sent, Self.dryRunAnswer]),
                send(
                    "/{hub}/messages/$batch", id: "sendBatch", "Send to many handles",
                    parameters: [direct, test, Self.testAnswer, Self.dryRun],
                    body: [APIContent("multipart/mixed")], answers: [sent, Self.dryRunAnswer]),
                send(
                    "/{hub}/schedulednotifications", id: "schedule", "Send later",
                    parameters: [
                        direct, Self.dryRun, tags, handle, Self.scheduleTime,
                    ], body: payloads,
                    answers: [
                        Self.dryRunAnswer,
                        APIAnswer(
                            .created, "Accepted and stored.", APIContent("application/xml"),
                            headers: Self.ids + [Self.location]),
                    ]),
                APIOperation(
                    .get, "/{hub}/schedulednotifications", id: "listScheduled", "List what has not begun",
                    parameters: [
                        APIParameter(.query, "from", "The earliest due time.", schema: Self.time),
                        APIParameter(.query, "to", "Only what is due before this time.", schema: Self.time),
                        APIParameter(.query, "continuation", "Where the page before ended."),
                    ],
                    answers: [
                        APIAnswer(
                            .ok, "By due time, at most 100.", .json(["$ref": "#/components/schemas/Schedules"]),
                            headers: Self.ids)
                    ]),
                APIOperation(
                    .put, "/{hub}/schedulednotifications/{id}", id: "replaceScheduled",
                    "Replace what has not begun, all of it but its id",
                    parameters: [format, expires, direct, Self.dryRun, tags, handle, Self.scheduleTime], body: payloads,
                    answers: [
                        APIAnswer(
                            .ok, "It will be sent instead; or, after a dry run, what a send would come to.",
                            APIContent("application/xml"),
                            .json(["$ref": "#/components/schemas/DryRun"]),
                            headers: Self.ids + [
                                APIParameter(.header, "Location", "Its absolute address; absent after a dry run."),
                                APIParameter(
                                    .header, "Martlet-Control",
                                    "Present with the value paused where the notification was paused: the replacement "
                                        + "stays paused until it is resumed."),
                            ]),
                        Self.error(409, "It has begun to go out or was canceled."),
                    ]),
                APIOperation(
                    .delete, "/{hub}/schedulednotifications/{id}", id: "cancel", "Cancel what has not begun",
                    answers: [APIAnswer(.ok, "It will not be sent.", headers: Self.ids)]),
                APIOperation(
                    .get, "/{hub}/messages/{id}", id: "getTelemetry", "Read what became of a send",
                    answers: [
                        APIAnswer(
                            .ok, "State and counts by outcome.", APIContent("application/xml"), headers: Self.ids)
                    ]),
            ])
    }

    private func send(
        _ pattern: String, id: String, _ summary: String, parameters: [APIParameter], body: [APIContent],
        answers: [APIAnswer]
    ) -> APIOperation {
        APIOperation(
            .post, pattern, id: id, summary,
            parameters: [format, expires, Self.rollout, Self.confidential, Self.idempotencyKey] + parameters,
            body: body,
            answers: answers + [Self.error(422, "The `Idempotency-Key` was used for another request.")])
    }

    private var sent: APIAnswer {
        APIAnswer(
            .created, "Accepted and stored; or, after a test send, the outcome of each device.",
            APIContent("application/xml"),
            .json([
                "type": "object", "required": ["success", "failure", "results"],
                "properties": [
                    "success": ["type": "integer"], "failure": ["type": "integer"], "results": ["type": "array"],
                ],
            ]),
            headers: Self.ids + [
                APIParameter(.header, "Location", "The absolute address of its telemetry; absent after a test send.")
            ])
    }

    var formats: [String] { platforms.map { $0.descriptor.format }.sorted() + ["template", "message"] }

    private var format: APIParameter {
        APIParameter(
            .header, "ServiceBusNotification-Format",
            "Needed unless headers of one platform say which is meant. The headers of a platform are passed on.",
            schema: ["type": "string", "enum": .array(formats.map { .string($0) })])
    }

    private var expires: APIParameter {
        APIParameter(
            .header, ExpiryHeader.name,
            "When it is given up: a time in UTC such as `2026-11-21T09:22:56Z`, or a duration from when it goes out such "
                + "as `PT90M`; at most 28 days, and 24 hours where nothing is said.")
    }

    private static let time: JSON = ["type": "string", "format": "date-time"]

    static let scheduleSchemas: [String: JSON] = [
        "Schedules": object(
            required: ["schedules"],
            [
                "continuation": ["type": "string", "description": "Of the next page; missing on the last."],
                "schedules": [
                    "type": "array",
                    "items": object(
                        required: [
                            "notification", "dueAt", "acceptedAt", "expiresAt", "control", "format", "isConfidential",
                        ],
                        [
                            "notification": ["type": "string"], "dueAt": time, "acceptedAt": time, "expiresAt": time,
                            "control": ["enum": ["running", "paused", "halted"]], "format": ["type": "string"],
                            "isConfidential": ["type": "boolean"],
                            "tags": ["type": ["string", "null"], "description": "Null for everybody."],
                            "handles": ["type": "integer", "description": "How many, of a direct send."],
                            "rollout": ["type": "string"],
                            "title": [
                                "type": "string",
                                "description":
                                    "What a device shows of it; missing where that cannot be told or is confidential.",
                            ],
                            "body": ["type": "string", "description": "Missing where it is confidential."],
                        ]),
                ],
            ])
    ]

    private static let scheduleTime = APIParameter(
        .header, "ServiceBusNotification-ScheduleTime",
        "A date and time, without a zone in UTC; one that is over means now.", isRequired: true)

    private static let idempotencyKey = APIParameter(
        .header, "Idempotency-Key", "A repeated request with the same key is answered as the first was.")
    private static let confidential = APIParameter(
        .header, "Martlet-Confidential", "`true`: nobody is shown the content but the devices that it is for.",
        schema: ["type": "string", "enum": ["true", "false"]])
    private static let rollout = APIParameter(
        .header, "Martlet-Rollout",
        "How it goes out, in parts that semicolons separate, each once: `rate=500` pushes a second, or `over=PT10M`; "
            + "`first=1000` or `first=1%` of the devices get it first, and the rest when it is resumed, or after "
            + "`wait=PT10M`; `halt=5%/200` pauses it when more than that share has failed, after at least so many "
            + "answers.")
    private var direct: APIParameter { APIParameter(.query, "direct", "To the handle that is named; needs no value.") }
    private var test: APIParameter {
        APIParameter(.query, "test", "Send to at most ten devices and wait for the outcomes; needs no value.")
    }
    private static let testAnswer = APIParameter(
        .header, "Martlet-Answer", "`json`: the outcomes of a test send are answered as JSON, without handles.",
        schema: ["type": "string", "enum": ["json"]])
    private var tags: APIParameter {
        APIParameter(.header, "ServiceBusNotification-Tags", "A tag expression such as `(a || b) && !c`.")
    }
    private var handle: APIParameter {
        APIParameter(.header, "ServiceBusNotification-DeviceHandle", "The handle, with `direct`.")
    }
    /// The schema `Message` is that of the format `message`; every other format has its own payloads.
    private var payloads: [APIContent] {
        [APIContent("application/json", [:]), APIContent("application/xml"), APIContent("text/plain")]
    }
}
