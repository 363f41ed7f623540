import MartletHTTP
import MartletModel
import MartletOpenAPI

extension HubDescription {
    var feedback: APIGroup {
        let files = "/{hub}/\(FeedbackAddress.segment)"
        return APIGroup(
            "Feedback", "What push services refused, as files of lines, by signed URL.",
            security: [Scheme.signedURL], parameters: Self.signature, answers: Self.containerAnswers,
            operations: [
                APIOperation(
                    .get, files, id: "listFeedback", "List the files, oldest first",
                    parameters: [
                        APIParameter(.query, "comp"), APIParameter(.query, "restype"),
                        APIParameter(.query, "prefix", "Not served."),
                        APIParameter(.query, "marker", "`NextMarker`."),
                        APIParameter(.query, "maxresults", schema: ["type": "integer", "minimum": 1]),
                    ],
                    answers: [
                        APIAnswer(.ok, "A page of files.", APIContent("application/xml"), headers: Self.storageIDs)
                    ]),
                reading(.get, files, id: "getFeedback"), reading(.head, files, id: "headFeedback"),
            ])
    }

    private func reading(_ method: HTTPMethod, _ files: String, id: String) -> APIOperation {
        APIOperation(
            method, "\(files)/{file}", id: id, "Read the file of a notification: a line of XML for each refusal",
            answers: [
                APIAnswer(.ok, "The lines.", APIContent("text/plain"), headers: Self.storageIDs)
            ])
    }
}
