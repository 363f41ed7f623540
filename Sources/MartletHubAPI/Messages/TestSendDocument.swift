import MartletCore
import MartletModel

/// The answer to a test send. Clients depend on the order of the elements (NotificationHubs.md, section 6.5).
struct TestSendDocument {
    let report: TestSendReport
    let platforms: PushPlatformList

    /// The answer as JSON, without handles. This format is an extension of Azure's API.
    var json: JSON {
        [
            "success": .integer(Int64(report.successes)), "failure": .integer(Int64(report.failures)),
            "results": .array(
                report.results.map { result in
                    [
                        "platform": .string(result.platform.rawValue),
                        "registration": result.registration.map(JSON.string) ?? .null,
                        "outcome": .string(result.outcome.rawValue), "reason": .string(result.reason),
                        "isSuccess": .bool(result.isSuccess),
                    ]
                }),
        ]
    }

    func document() -> [UInt8] {
        var writer = XMLWriter(reserving: 512 + 512 * report.results.count)
        writer.element(
            "NotificationOutcome", ["xmlns": XMLNamespace.service, "xmlns:i": XMLNamespace.instance]
        ) { outcome in
            outcome.element("Success", text: String(report.successes))
            outcome.element("Failure", text: String(report.failures))
            guard !report.results.isEmpty else { return outcome.emptyElement("Results", ["i:nil": "true"]) }
            outcome.element("Results") { results in
                for result in report.results { write(result, to: &results) }
            }
        }
        return writer.bytes
    }

    /// Writes a result. If the handle has several parts, only the first part is written; for Web Push, this is the
    /// endpoint.
    private func write(_ result: TestSendReport.Result, to results: inout XMLWriter) {
        results.element("RegistrationResult") { element in
            element.element(
                "ApplicationPlatform", text: platforms[result.platform]?.descriptor.format ?? result.platform.rawValue)
            element.element("PnsHandle", text: result.handle.parts.first ?? "")
            element.element("RegistrationId", text: result.registration ?? "")
            element.element("Outcome", text: result.text)
        }
    }
}
