import Testing

@testable import MartletServer

struct ConsoleProviderConfigurationTests {
    private let directory = TemporaryDirectory()

    private func provider(
        _ issuer: String = "https://id.example.org/realm", client: String = "console", secret: String? = nil,
        scopes: String = "openid", claim: String = "groups", name: String? = nil
    ) throws -> ServerConfiguration.ConsoleOpenIDConnect {
        try ServerConfiguration.ConsoleOpenIDConnect(
            issuer: issuer, clientID: client, secretFile: secret, roles: "admin=ops", rolesClaim: claim, scopes: scopes,
            name: name)
    }

    @Test func theNameIsTheIssuersHostUnlessItIsGiven() throws {
        #expect(try provider().shownName == "id.example.org")
        #expect(try provider(name: "Example").shownName == "Example")
    }

    @Test func whatCannotBeUsedNamesItsOption() throws {
        let bad: [(ServerConfiguration.ConsoleOpenIDConnect, String)] = [
            (try provider("http://id.example.org"), "--console-oidc-issuer"),
            (try provider(client: ""), "--console-oidc-client-id"),
            (try provider(scopes: "profile"), "--console-oidc-scopes"),
            (try provider(scopes: "openid\n"), "--console-oidc-scopes"),
            (try provider(claim: ""), "--console-oidc-roles-claim"),
            (try provider(name: "a\u{202E}b"), "--console-oidc-name"),
            (try provider(name: String(repeating: "x", count: 65)), "--console-oidc-name"),
        ]
        for (settings, option) in bad {
            let error = #expect(throws: ServerError.self) { try settings.settings() }
            #expect(error?.description.hasPrefix(option) == true, "\(error?.description ?? "")")
        }
        #expect(throws: ServerError.self) {
            try ServerConfiguration.ConsoleOpenIDConnect(issuer: "x", clientID: "c", roles: "boss=ops")
        }
    }

    @Test func theSecretIsTheLineOfItsFile() throws {
        let path = "\(directory.path)/secret"
        #expect(try provider().secret() == nil)
        for (text, secret) in [("s e:c\n", "s e:c"), ("s\r\n", "s"), ("s", "s")] {
            try SecretFile.write(Array(text.utf8), to: path)
            #expect(try provider(secret: path).secret() == secret)
        }
        for text in ["", "\n", "a\nb", String(repeating: "x", count: 1025)] {
            try SecretFile.write(Array(text.utf8), to: path)
            let error = #expect(throws: ServerError.self) { try provider(secret: path).secret() }
            #expect(error?.description.contains("--console-oidc-client-secret-file") == true)
            #expect(error?.description.contains("xxx") == false)
        }
        #expect(throws: ServerError.self) { try provider(secret: path + "/nowhere").secret() }
        #expect(throws: ServerError.self) { try provider(secret: directory.path).secret() }
    }

    @Test func aCheckSaysWhetherTheSecretIsThere() throws {
        var configuration = ServerConfiguration(
            dataDirectory: directory.path, listen: .init(host: "127.0.0.1", port: 8080))
        #expect(ServerCheck(configuration).provider().isEmpty)
        configuration.consoleOpenIDConnect = try provider(secret: "\(directory.path)/secret")
        #expect(ServerCheck(configuration).provider().map(\.level) == [.problem])
        try SecretFile.write(Array("s".utf8), to: "\(directory.path)/secret")
        #expect(ServerCheck(configuration).provider().map(\.level) == [.ok])
    }
}
