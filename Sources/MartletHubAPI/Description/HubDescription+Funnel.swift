import MartletHTTP
import MartletModel
import MartletOpenAPI

extension HubDescription {
    var funnel: APIGroup {
        Self.hubGroup(
            "Funnel", "How far sends came; the original hub has no such thing.",
            [
                APIOperation(
                    .get, "/{hub}/messages/{id}/funnel", id: "getFunnel",
                    "Read to how many devices a send was to go, went, and who received and opened it",
                    answers: [
                        APIAnswer(
                            .ok, "What nobody can know is null.", .json(["$ref": "#/components/schemas/Funnel"]),
                            headers: Self.ids)
                    ])
            ])
    }

    static let funnelSchemas: [String: JSON] = {
        let number: JSON = ["type": ["integer", "null"]]
        let steps: [String: JSON] = [
            "targeted": number, "rendered": number, "accepted": ["type": "integer"], "received": number,
            "opened": number,
        ]
        let names: [JSON] = ["targeted", "rendered", "accepted", "received", "opened"]
        let all: [String: JSON] = [
            "notification": ["type": "string"], "state": ["type": "string"],
            "platforms": ["type": "object", "additionalProperties": object(required: names, steps)],
        ]
        return [
            "Funnel": object(required: names + ["notification", "state", "platforms"], steps.merging(all) { $1 })
        ]
    }()
}
