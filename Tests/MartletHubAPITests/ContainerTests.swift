import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletHubAPI

/// What containers refuse, so that nothing else is stored or removed than was asked for.
struct ContainerTests {
    private let fixture: HubFixture
    private let target: String

    init() async throws {
        fixture = try await HubFixture()
        _ = fixture.store.createContainer(try #require(ContainerName("jobs")))
        target = try fixture.signedURL("a.txt").replacing("https://hub.example:8443", with: "")
    }

    private func ask(
        _ method: HTTPMethod, query: String = "", _ fields: HTTPFields = [:], body: String = ""
    ) async -> HTTPResponse {
        var fields = fields
        if method == .put, fields["x-ms-blob-type"] == nil { fields["x-ms-blob-type"] = "BlockBlob" }
        return await fixture.containers.respond(
            to: HTTPRequest(
                method, target + query, authority: "hub.example:8443", fields: fields, body: Array(body.utf8)))
    }

    /// The content of the blob; nil if there is none.
    private func stored() async throws -> String? {
        let name = try #require(ContainerName("jobs"))
        guard let content = try? fixture.store.openBlob(BlobAddress(name, try #require(BlobName("a.txt")))) else {
            return nil
        }
        return String(decoding: try await content.read(at: 0, count: 100), as: UTF8.self)
    }

    @Test(arguments: [
        ("x-ms-copy-source", "https://example.com/b", ""),
        ("x-ms-copy-source", "https://example.com/b", "&comp=block&blockid=QUFB"),
        ("x-ms-lease-id", "1", ""), ("x-ms-encryption-key", "AAAA", ""), ("x-ms-encryption-scope", "a", ""),
        ("x-ms-structured-body", "XSM/1.0; properties=crc64", ""), ("content-range", "bytes 0-4/9", ""),
        ("x-ms-immutability-policy-mode", "locked", ""), ("x-ms-legal-hold", "true", ""),
        ("if-unmodified-since", "Thu, 01 Jan 2026 00:00:00 GMT", ""), ("x-ms-if-tags", "a = 'b'", ""),
        ("if-none-match", "\"a\"", ""),
    ])
    func aFieldThatWouldStoreSomethingElseIsRefusedAndNothingIsStored(
        name: String, value: String, query: String
    ) async throws {
        let refused = await ask(.put, query: query, [name: value], body: "text")
        #expect(refused.status == 501 && refused.fields["x-ms-error-code"] == "NotImplemented")
        #expect(refused.element("Code") == "NotImplemented")
        #expect(refused.element("Message")?.contains(name) == true)
        #expect(try await stored() == nil)
    }

    @Test func otherKindsOfBlobsAreRefused() async throws {
        for kind in ["PageBlob", "AppendBlob", ""] {
            #expect(await ask(.put, ["x-ms-blob-type": kind], body: "text").status == .badRequest)
        }
        #expect(try await stored() == nil)
    }

    @Test func fieldsThatOnlyDescribeABlobAreIgnored() async throws {
        let fields: HTTPFields = [
            "x-ms-meta-color": "blue", "x-ms-blob-content-type": "text/plain", "if-none-match": "*",
            "x-ms-client-request-id": "1", "x-ms-encryption-algorithm": "AES256", "x-ms-lease-id": "",
        ]
        #expect(await ask(.put, fields, body: "text").status == .created)
        #expect(try await stored() == "text")
    }

    @Test func aSnapshotOrAnEarlierVersionIsNotTakenForTheBlob() async throws {
        #expect(await ask(.put, body: "text").status == .created)
        for query in ["&snapshot=2026-01-01T00:00:00.0000000Z", "&versionid=2026-01-01T00:00:00.0000000Z"] {
            for method in [HTTPMethod.get, .delete, .put] {
                #expect(await ask(method, query: query, body: "other").status == 501, "\(method) \(query)")
            }
        }
        for (name, value) in [("x-ms-delete-snapshots", "only"), ("if-match", "\"a\""), ("x-ms-lease-id", "1")] {
            #expect(await ask(.delete, [name: value]).status == 501, "\(name)")
        }
        #expect(try await stored() == "text")
        #expect(await ask(.delete, ["x-ms-delete-snapshots": "include"]).status.code == 202)
        #expect(try await stored() == nil)
    }
}
