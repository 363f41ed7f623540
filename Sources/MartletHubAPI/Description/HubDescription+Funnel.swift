import MartletHTTP
import MartletModel
import MartletOpenAPI

extension HubDescription {
    var funnel: APIGroup {
        Self.hubGroup(
            "Funnel",
            "The numbers of a send from its targets to opened notifications; an extension of the original API.",
            [
                APIOperation(
                    .get, "/{hub}/messages/{id}/funnel", id: "getFunnel",
                    "Read how many devices a send targeted, and how many accepted, received and opened it",
                    answers: [
                        APIAnswer(
                            .ok, "Numbers that cannot be known are null.",
                            .json(["$ref": "#/components/schemas/Funnel"]),
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
