import MartletModel
import Testing

struct ConnectionStringTests {
    @Test("Trap 2: a connection string is written with sb, a slash at the end and three parts")
    func itIsWrittenInTheFormThatEveryClientReads() {
        let text = ConnectionString(authority: "hub.example:8443", keyName: "rule", key: "a=b==").text
        #expect(text == "Endpoint=sb://hub.example:8443/;SharedAccessKeyName=rule;SharedAccessKey=a=b==")
    }

    @Test(arguments: [
        "Endpoint=sb://hub.example:8443/;SharedAccessKeyName=rule;SharedAccessKey=a=b==",
        "Endpoint=sb://hub.example:8443;SharedAccessKeyName=rule;SharedAccessKey=a=b==;",
        "endpoint=HTTPS://hub.example:8443/ ; sharedaccesskeyname = rule;SHAREDACCESSKEY=a=b==\n",
        "SharedAccessKey=a=b==;Other=x;SharedAccessKeyName=rule;Endpoint=sb://hub.example:8443//",
    ])
    func everyOrderAndSpellingIsRead(text: String) throws {
        let read = try ConnectionString(text)
        #expect(read == ConnectionString(authority: "hub.example:8443", keyName: "rule", key: "a=b=="))
        #expect(read.origin == "https://hub.example:8443")
    }

    @Test func clearTextAndTheHubAreKept() throws {
        let text = "Endpoint=http://127.0.0.1:8080/;SharedAccessKeyName=r;SharedAccessKey=k;EntityPath=demo"
        let read = try ConnectionString(text)
        #expect(read.origin == "http://127.0.0.1:8080")
        #expect(read.hub == "demo")
        #expect(read.text == text)
    }

    @Test(
        arguments: [
            ("", .missing("Endpoint")), ("x", .notAPair), ("Endpoint=sb://h/", .missing("SharedAccessKeyName")),
            ("Endpoint=sb://h/;SharedAccessKeyName=r", .missing("SharedAccessKey")),
            ("Endpoint=sb://h/;SharedAccessKeyName=r;SharedAccessKey=", .missing("SharedAccessKey")),
            ("Endpoint=h;SharedAccessKeyName=r;SharedAccessKey=k", .badEndpoint),
            ("Endpoint=sb:///;SharedAccessKeyName=r;SharedAccessKey=k", .badEndpoint),
            ("Endpoint=sb://h/path;SharedAccessKeyName=r;SharedAccessKey=k", .badEndpoint),
            ("Endpoint=sb://u@h/;SharedAccessKeyName=r;SharedAccessKey=k", .badEndpoint),
        ] as [(String, ConnectionStringError)])
    func whatIsNoneIsRefusedWithThePartThatIsWrong(text: String, error: ConnectionStringError) {
        #expect(throws: error) { try ConnectionString(text) }
    }

    @Test func theKeyIsNotShown() throws {
        let connection = ConnectionString(authority: "h", keyName: "r", key: "secret")
        #expect(!"\(connection)".contains("secret"))
        #expect(!String(reflecting: connection).contains("secret"))
    }

    @Test func aTokenSignsTheEscapedResourceAndTheExpiry() {
        var signed: [UInt8] = []
        let token = SharedAccessToken.authorization(
            for: "https://Localhost:8443/", keyName: "a b", key: "k", expiry: Timestamp(seconds: 1_893_456_000)
        ) { message, key in
            signed = message + key
            return "a+b/c="
        }
        #expect(String(decoding: signed, as: UTF8.self) == "https%3A%2F%2Flocalhost%3A8443%2F\n1893456000k")
        #expect(
            token
                == "SharedAccessSignature sr=https%3A%2F%2Flocalhost%3A8443%2F&sig=a%2Bb%2Fc%3D&se=1893456000&skn=a%20b"
        )
    }
}
