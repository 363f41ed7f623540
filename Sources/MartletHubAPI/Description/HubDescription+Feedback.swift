import MartletHTTP
import MartletOpenAPI

extension HubDescription {
    var feedback: APIGroup {
        Self.hubGroup(
            "Feedback", "Refusals of push services.",
            [
                APIOperation(
                    .get, "/{hub}/feedbackcontainer", id: "getFeedbackContainer",
                    "Get the signed URL of a hub's feedback files",
                    answers: [APIAnswer(.ok, "The URL as text.", APIContent("application/xml"), headers: Self.ids)])
            ])
    }

    var feedbackFiles: APIGroup {
        let container = "/{hub}/\(FeedbackAddress.segment)"
        return Self.storageGroup(
            "Feedback files", "A file for each notification with refused pushes, by signed URL.",
            [
                APIOperation(
                    .get, container, id: "listFeedback", "List the files, oldest first",
                    parameters: Self.listParameters, answers: [Self.blobPage]),
                reading(.get, "\(container)/{file}", id: "getFeedbackFile"),
                reading(.head, "\(container)/{file}", id: "headFeedbackFile"),
            ])
    }

    private func reading(_ method: HTTPMethod, _ pattern: String, id: String) -> APIOperation {
        APIOperation(
            method, pattern, id: id, "Read a file, with a line of XML for each refusal",
            answers: [APIAnswer(.ok, "The lines.", APIContent("text/plain"), headers: Self.storageIDs)])
    }
}
