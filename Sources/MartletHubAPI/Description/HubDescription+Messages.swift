import MartletCore
import MartletHTTP
import MartletModel
import MartletOpenAPI

extension HubDescription {
    var messages: APIGroup {
        Self.hubGroup(
            "Messages", "Sending, at once or later, and telemetry.",
            [
                send(
                    "/{hub}/messages", id: "send",
                    "Send to all devices, to a tag expression or, with `direct`, to a handle",
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
                    .get, "/{hub}/schedulednotifications", id: "listScheduled", "List scheduled notifications",
                    parameters: [
                        APIParameter(.query, "from", "The earliest due time.", schema: Self.time),
                        APIParameter(
                            .query, "to", "Only notifications that are due before this time.", schema: Self.time),
                        APIParameter(.query, "continuation", "The token from the previous page."),
                    ],
                    answers: [
                        APIAnswer(
                            .ok, "At most 100, in the order of due times.",
                            .json(["$ref": "#/components/schemas/Schedules"]),
                            headers: Self.ids)
                    ]),
                APIOperation(
                    .put, "/{hub}/schedulednotifications/{id}", id: "replaceScheduled",
                    "Replace a scheduled notification, all of it except its id",
                    parameters: [format, expires, direct, Self.dryRun, tags, handle, Self.scheduleTime], body: payloads,
                    answers: [
                        APIAnswer(
                            .ok, "The replacement will be sent; or, after a dry run, the predicted result.",
                            APIContent("application/xml"),
                            .json(["$ref": "#/components/schemas/DryRun"]),
                            headers: Self.ids + [
                                APIParameter(
                                    .header, "Location", "The absolute URL of the notification; absent after a dry run."
                                ),
                                APIParameter(
                                    .header, "Martlet-Control",
                                    "`paused` if the notification was paused; absent otherwise. The replacement "
                                        + "stays paused until it is resumed."),
                            ]),
                        Self.error(409, "Sending has begun, or the notification was canceled."),
                    ]),
                APIOperation(
                    .delete, "/{hub}/schedulednotifications/{id}", id: "cancel", "Cancel a scheduled notification",
                    answers: [APIAnswer(.ok, "The notification will not be sent.", headers: Self.ids)]),
                APIOperation(
                    .get, "/{hub}/messages/{id}", id: "getTelemetry", "Read the telemetry of a send",
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
                APIParameter(
                    .header, "Location", "The absolute URL of the notification's telemetry; absent after a test send.")
            ])
    }

    var formats: [String] { platforms.map { $0.descriptor.format }.sorted() + ["template", "message"] }

    private var format: APIParameter {
        APIParameter(
            .header, "ServiceBusNotification-Format",
            "The format. Required, unless the headers of one platform determine it. Headers of the platform are passed on.",
            schema: ["type": "string", "enum": .array(formats.map { .string($0) })])
    }

    private var expires: APIParameter {
        APIParameter(
            .header, ExpiryHeader.name,
            "When the notification expires: a time in UTC such as `2026-11-21T09:22:56Z`, or a duration from the start of "
                + "sending such as `PT90M`; at most 28 days. Default: 24 hours.")
    }

    private static let time: JSON = ["type": "string", "format": "date-time"]

    static let scheduleSchemas: [String: JSON] = [
        "Schedules": object(
            required: ["schedules"],
            [
                "continuation": ["type": "string", "description": "The token of the next page; absent on the last."],
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
                            "tags": ["type": ["string", "null"], "description": "Null for all devices."],
                            "handles": ["type": "integer", "description": "The number of handles of a direct send."],
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
        "A date and time, in UTC if it has no zone; a time in the past means now.", isRequired: true)

    private static let idempotencyKey = APIParameter(
        .header, "Idempotency-Key",
        "A repeated request with the same key gets the answer of the first, and sends nothing.")
    private static let confidential = APIParameter(
        .header, "Martlet-Confidential",
        "`true`: the content is shown only on the target devices, not in traces or telemetry.",
        schema: ["type": "string", "enum": ["true", "false"]])
    private static let rollout = APIParameter(
        .header, "Martlet-Rollout",
        "The roll-out: parameters with semicolons between them, each once. `rate=500` pushes a second, or `over=PT10M`; "
            + "`first=1000` or `first=1%` of the devices get it first, and the rest when it is resumed, or after "
            + "`wait=PT10M`; `halt=5%/200` pauses it when more than that share has failed, after at least so many "
            + "answers.")
    private var direct: APIParameter { APIParameter(.query, "direct", "Send to the given handle; needs no value.") }
    private var test: APIParameter {
        APIParameter(.query, "test", "Send to at most ten devices and wait for the outcomes; needs no value.")
    }
    private static let testAnswer = APIParameter(
        .header, "Martlet-Answer",
        "`json`: refusals, and the outcomes of a test send, are answered as JSON; the outcomes have no handles.",
        schema: ["type": "string", "enum": ["json"]])
    private var tags: APIParameter {
        APIParameter(.header, "ServiceBusNotification-Tags", "A tag expression such as `(a || b) && !c`.")
    }
    private var handle: APIParameter {
        APIParameter(.header, "ServiceBusNotification-DeviceHandle", "The handle, with `direct`.")
    }
    /// The formats of the body of a send. JSON has no schema here, because `Message` describes only the format
    /// `message`, and every other format has its own payloads.
    private var payloads: [APIContent] {
        [APIContent("application/json", [:]), APIContent("application/xml"), APIContent("text/plain")]
    }
}
