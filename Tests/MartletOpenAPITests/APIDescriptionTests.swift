import MartletHTTP
import MartletModel
import MartletOpenAPI
import Testing

struct APIDescriptionTests {
    private static let description = APIDescription(
        title: "Files", text: "Of a toy.", version: "1",
        securitySchemes: ["Key": ["type": "apiKey", "in": "header", "name": "X-Key"]], schemas: [:],
        groups: [
            APIGroup(
                "Files", "Reading and writing.", security: ["Key"],
                parameters: [APIParameter(.query, "version"), APIParameter(.path, "name", "Without slashes.")],
                answers: [APIAnswer(.notFound, "None."), APIAnswer(.badRequest, "Wrong.", .json(["type": "string"]))],
                operations: [
                    APIOperation(
                        .get, "/files/{name}/{part...}", id: "read", "Read",
                        answers: [
                            APIAnswer(
                                .ok, "It.", APIContent("text/plain"),
                                headers: [APIParameter(.header, "ETag", isRequired: true)])
                        ]),
                    APIOperation(
                        .put, "/files/{name}", id: "write", "Write", security: [], body: [.json([:], example: "x")],
                        answers: [APIAnswer(.ok, "Done."), APIAnswer(.notFound, "No such folder.")]),
                ])
        ])

    private static func operation(_ path: String, _ method: String) -> JSON? {
        description.document["paths"]?[path]?[method]
    }

    @Test func routesAreNamedAsARouterNamesThem() {
        var router = Router { _, _ in HTTPResponse(.notFound) }
        router.on(.get, "/files/{name}/{part...}") { _, _ in HTTPResponse(.ok) }
        router.on(.put, "/files/{name}") { _, _ in HTTPResponse(.ok) }
        #expect(Self.description.routeNames == router.routeNames)
    }

    @Test func parametersOfAPathAreDescribedInItsOrderWhetherThereIsMoreToSayOrNot() {
        let parameters = Self.operation("/files/{name}/{part}", "get")?["parameters"]?.array ?? []
        #expect(parameters.map { $0["name"]?.string } == ["name", "part", "version"])
        #expect(parameters.map { $0["required"] } == [true, true, false])
        #expect(parameters.first?["description"]?.string == "Without slashes.")
    }

    @Test func anOperationHasTheAnswersOfItsGroupExceptWhereItHasItsOwn() {
        let answers = Self.operation("/files/{name}", "put")?["responses"]
        #expect(answers?["200"] == ["description": "Done."])
        #expect(answers?["404"]?["description"]?.string == "No such folder.")
        #expect(answers?["400"]?["content"]?["application/json"]?["schema"] == ["type": "string"])
    }

    @Test func anOperationThatAnybodyMayCallSaysSo() {
        #expect(Self.operation("/files/{name}", "put")?["security"] == [])
        #expect(Self.operation("/files/{name}/{part}", "get")?["security"] == [["Key": []]])
    }

    @Test func bodiesAndHeadersOfAnswersAreDescribed() {
        #expect(
            Self.operation("/files/{name}", "put")?["requestBody"] == [
                "required": true, "content": ["application/json": ["schema": [:], "example": "x"]],
            ])
        let answer = Self.operation("/files/{name}/{part}", "get")?["responses"]?["200"]
        #expect(answer?["headers"]?["ETag"]?["required"] == true)
        #expect(answer?["content"]?["text/plain"]?["schema"] == ["type": "string"])
    }

    @Test func theDocumentIsServedAsJSON() throws {
        let response = Self.description.makeResponse()
        #expect(response.fields["content-type"] == "application/json")
        #expect(try JSON(parsing: response.bytes) == Self.description.document)
    }
}
