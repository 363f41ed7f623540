import MartletHTTP
import MartletNetwork
import Testing

struct HTTPServerTests {
    @Test func answersOverARealSocketAndKeepsTheConnection() async throws {
        let server = HTTPServer(loops: try EventLoopGroup(count: 1), handler: ClosureHandler.echo)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        #expect(address.port != 0)
        let answer = await RawClient.exchange(
            address,
            [
                "GET /one HTTP/1.1\r\nHost: a\r\n\r\nPOST /two HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi",
                "GET /three HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            ])
        let bodies = answer.split(separator: "\r\n\r\n").dropFirst().map { $0.prefix { $0 != "H" } }
        #expect(bodies.first?.hasPrefix("GET /one ") == true)
        #expect(answer.components("HTTP/1.1 200 OK") == 3)
        #expect(answer.contains("POST /two hi"))
        #expect(answer.hasSuffix("GET /three "))
        await server.shutDown()
    }
}

extension String {
    /// How often a text occurs.
    func components(_ text: String) -> Int {
        var count = 0
        var rest = self[...]
        while let range = rest.firstRange(of: text) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}
